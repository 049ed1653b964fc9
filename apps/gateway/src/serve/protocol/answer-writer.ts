import { randomUUID } from 'node:crypto';
import type { AnswerForm, LogprobsWriter } from '@retrace/chat';
import type { PolicySupply } from '../supply/policy-supply.js';
import type { ChoiceDelta } from './choice-reader.js';

interface AnswerOptions {
  readonly form: AnswerForm;
  readonly supply: PolicySupply;
  readonly prompts: readonly Int32Array[];
  /** Choices for each prompt. */
  readonly n: number;
  readonly logprobs: LogprobsWriter | null;
  readonly returnsTokenIds: boolean;
  /** Logprobs of the tokens of each prompt; null: not asked for. */
  readonly promptLogprobs: readonly Float32Array[] | null;
}

/** Tokens of one policy version, from `start` to before `end`. */
interface VersionStretch {
  readonly version: number;
  readonly start: number;
  readonly end: number;
}

/** Writes the answer to one request: as a whole, or in chunks. */
export class AnswerWriter {
  readonly id: string;
  private readonly createdAt = Math.floor(Date.now() / 1000);
  private readonly begun = new Set<number>();
  private numSampled = 0;
  private policyVersion: number | null = null;

  constructor(private readonly options: AnswerOptions) {
    this.id = `${options.form.idPrefix}-${randomUUID().replaceAll('-', '')}`;
  }

  /** @param choices in the order of their numbers */
  whole(choices: readonly ChoiceDelta[]): object {
    const { form, logprobs, promptLogprobs, n } = this.options;
    for (const delta of choices) this.note(delta);
    return {
      ...this.envelope(form.object),
      choices: choices.map((delta, index) => ({
        ...form.whole({ index, delta, logprobs }),
        ...this.choiceFields(index, delta, true),
        ...(promptLogprobs && { prompt_logprobs: this.promptEntries(Math.floor(index / n)) }),
        ...(this.hasVersions && { policy_versions: listStretches(delta.columns.policyVersions) }),
      })),
      ...this.promptIds(true),
      usage: this.usage,
    };
  }

  /** null where new tokens have nothing to tell yet. */
  chunk(index: number, delta: ChoiceDelta): object | null {
    const { form, logprobs, returnsTokenIds } = this.options;
    this.note(delta);
    const isFirst = !this.begun.has(index);
    const isEmpty = delta.content === '' && delta.toolCalls.length === 0 && delta.end === null;
    if (isEmpty && !isFirst && logprobs === null && !returnsTokenIds) return null;
    const isFirstOfAll = this.begun.size === 0;
    this.begun.add(index);
    return {
      ...this.envelope(form.chunkObject),
      choices: [
        { ...form.chunk({ index, delta, logprobs }, isFirst), ...this.choiceFields(index, delta, isFirst) },
      ],
      ...this.promptIds(isFirstOfAll),
    };
  }

  /** The chunk with the usage, which comes after all others. */
  usageChunk(): object {
    return { ...this.envelope(this.options.form.chunkObject), choices: [], usage: this.usage };
  }

  get usage(): object {
    const prompt = this.options.prompts.reduce((sum, { length }) => sum + length, 0);
    return {
      prompt_tokens: prompt,
      completion_tokens: this.numSampled,
      total_tokens: prompt + this.numSampled,
    };
  }

  private get hasVersions(): boolean {
    return this.options.supply.policyVersion !== null;
  }

  private note({ columns: { tokenIds, policyVersions } }: ChoiceDelta): void {
    this.numSampled += tokenIds.length;
    this.policyVersion = policyVersions.at(-1) ?? this.policyVersion;
  }

  private envelope(object: string): object {
    const { name, runId } = this.options.supply;
    return {
      id: this.id,
      object,
      created: this.createdAt,
      model: name,
      ...(this.hasVersions && {
        run_id: runId,
        policy_version: this.policyVersion,
        // The name of it in SGLang's answers.
        metadata: { weight_version: `${this.policyVersion}` },
      }),
    };
  }

  /** Logprobs of a prompt as vLLM has them, without ranks; nothing predicts its first token. */
  private promptEntries(place: number): (object | null)[] {
    const { prompts, promptLogprobs, supply } = this.options;
    return Array.from(prompts[place], (tokenId, n) =>
      n === 0
        ? null
        : {
            [tokenId]: {
              logprob: promptLogprobs?.[place][n],
              decoded_token: supply.text.tokenizer.decode([tokenId]),
            },
          },
    );
  }

  private promptIds(isFirst: boolean): object {
    const { form, returnsTokenIds, prompts } = this.options;
    return returnsTokenIds && isFirst && !form.promptIdsInChoices
      ? { prompt_token_ids: [...prompts[0]] }
      : {};
  }

  private choiceFields(index: number, { columns }: ChoiceDelta, isFirst: boolean): object {
    const { form, returnsTokenIds, prompts, n } = this.options;
    if (!returnsTokenIds) return {};
    return {
      token_ids: [...columns.tokenIds],
      ...(form.promptIdsInChoices && isFirst && { prompt_token_ids: [...prompts[Math.floor(index / n)]] }),
    };
  }
}

function listStretches(versions: Int32Array): VersionStretch[] {
  const stretches: VersionStretch[] = [];
  versions.forEach((version, n) => {
    const last = stretches.at(-1);
    if (last?.version === version) stretches[stretches.length - 1] = { ...last, end: n + 1 };
    else stretches.push({ version, start: n, end: n + 1 });
  });
  return stretches;
}
