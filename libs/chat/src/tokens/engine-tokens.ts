import type { JsonObject, JsonValue, TokenUsage } from '@retrace/client';
import { isJsonObject } from '@retrace/trajectory/json';
import { asObjects } from '../json/json-fields.js';
import type { PromptAndSampledTokens } from '../calls/protocol.js';

/** vLLM writes this for a log-probability that it does not have. */
export const MISSING_LOGPROB = -9999;

/** Fields of an answer with token ids: vLLM's names, then SGLang's. */
export const PROMPT_IDS = 'prompt_token_ids';
export const SAMPLED_IDS = ['token_ids', 'response_token_ids'] as const;

/** Tokens of a prompt: of the answer, or of its first choice. */
export function readPromptIds(answer: JsonObject): readonly number[] | null {
  return asIds(answer[PROMPT_IDS]) ?? asIds(asObjects(answer.choices)[0]?.[PROMPT_IDS]);
}

/** The field of an answer, a choice or a chunk that should be token ids and is something else; undefined where there is none. */
export function unreadableIds(part: JsonObject): string | undefined {
  return [PROMPT_IDS, ...SAMPLED_IDS].find((name) => part[name] != null && asIds(part[name]) === null);
}

/** Sampled tokens of a choice, or of a chunk of it. */
export function readSampledIds(choice: JsonObject): readonly number[] | null {
  return asIds(choice[SAMPLED_IDS[0]]) ?? asIds(choice[SAMPLED_IDS[1]]);
}

/** Log-probabilities of sampled tokens of a choice: of chat completions (`content`), or of completions (`token_logprobs`). */
export function readLogprobs({ logprobs }: JsonObject): readonly (number | null)[] | null {
  if (!isJsonObject(logprobs)) return null;
  if (Array.isArray(logprobs.content))
    return asObjects(logprobs.content).map(({ logprob }) => knownLogprob(logprob));
  if (Array.isArray(logprobs.token_logprobs))
    return (logprobs.token_logprobs as readonly JsonValue[]).map(knownLogprob);
  return null;
}

/** @returns null where ids are missing; logprobs are left out where there are not as many as sampled tokens */
export function callTokens(
  promptIds: readonly number[] | null,
  sampledIds: readonly number[] | null,
  logprobs: readonly (number | null)[] | null,
): PromptAndSampledTokens | null {
  if (promptIds === null || sampledIds === null || promptIds.length === 0) return null;
  return { promptIds, sampledIds, logprobs: logprobs?.length === sampledIds.length ? logprobs : null };
}

/** The number of token ids in an answer, as they were counted; null where there are none. */
export interface CountedTokens {
  readonly prompt: number | null;
  readonly sampled: number | null;
}

/** Compares token ids with the usage that the server told. @returns the tokens that are missing, or too many; undefined where the counts agree or are unknown */
export function missingTokens(counted: CountedTokens, usage: TokenUsage | null): string | undefined {
  const compare = (what: string, numIds: number | null, told: number | null | undefined) =>
    numIds === null || told == null || numIds === told
      ? undefined
      : `${numIds} ${what} token ids where the usage says ${told}`;
  return (
    compare('sampled', counted.sampled, usage?.outputTokens) ??
    compare('prompt', counted.prompt, usage?.inputTokens)
  );
}

/** Counts the token ids of an answer. The usage is that of all choices, so each of them must have its ids. */
export function countTokens(body: JsonObject): CountedTokens {
  const ids = asObjects(body.choices).map(readSampledIds);
  const sum = ids.reduce((total: number, some) => total + (some?.length ?? 0), 0);
  return {
    prompt: readPromptIds(body)?.length ?? null,
    sampled: ids.length > 0 && !ids.includes(null) ? sum : null,
  };
}

/** Version of the weights as the engine names it (SGLang); null where the answer does not tell. */
export function readWeightVersion({ metadata }: JsonObject): string | null {
  if (!isJsonObject(metadata)) return null;
  const version = metadata.weight_version;
  return typeof version === 'string' ? version : null;
}

/** A log-probability; null where there is none, or vLLM's number in place of one. */
export function knownLogprob(value: unknown): number | null {
  return typeof value === 'number' && value > MISSING_LOGPROB ? value : null;
}

/** A list of token ids; null for anything else. */
export function asIds(value: unknown): readonly number[] | null {
  if (!Array.isArray(value)) return null;
  const ids: readonly unknown[] = value;
  return ids.every((id) => typeof id === 'number' && Number.isInteger(id) && id >= 0)
    ? (ids as number[])
    : null;
}
