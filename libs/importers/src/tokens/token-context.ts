import { isJsonObject, knownLogprob } from '@retrace/chat';
import { asList } from '../fields.js';
import { RowFault } from '../skip.js';
import type { WireTokens } from '@retrace/recording';

/** A call of a model, in tokens. */
export interface TokenCall extends CompletionTokens {
  /** The whole prompt. */
  readonly prompt: readonly number[];
}

/** The part of a prompt that is new, after the first tokens of the context. */
export interface AppendedPrompt {
  readonly ids: readonly number[];
  readonly keptPrefix: number;
}

export interface CompletionTokens {
  readonly completion: readonly number[];
  readonly logprobs: readonly (number | null)[] | null;
  /** Policy version of each completion token; null = unknown. */
  readonly versions: readonly number[] | null;
}

/**
 * The tokens of an episode's context so far, for sources that know whole prompts: what a call appends is the rest of its prompt after
 * the longest prefix that it shares with the context, and its completion.
 */
export class TokenContext {
  private context: readonly number[] = [];

  append({ prompt, ...sampled }: TokenCall): WireTokens {
    const keptPrefix = sharedPrefix(this.context, prompt);
    return this.appendTo({ ids: prompt.slice(keptPrefix), keptPrefix }, sampled);
  }

  /** Takes a call whose source says itself what its prompt appended. */
  appendTo(
    { ids: added, keptPrefix }: AppendedPrompt,
    { completion, logprobs, versions }: CompletionTokens,
  ): WireTokens {
    const isWholeContext = keptPrefix >= this.context.length;
    this.context = [...this.context.slice(0, keptPrefix), ...added, ...completion];
    return {
      ids: [...added, ...completion],
      mask: [...added.map((): 0 => 0), ...completion.map((): 1 => 1)],
      ...(logprobs === null ? {} : { logprobs: [...added.map(() => 0), ...logprobs] }),
      ...(versions === null || versions.length === 0
        ? {}
        : { versions: [...added.map(() => versions[0]), ...versions] }),
      ...(isWholeContext ? {} : { keptPrefix }),
    };
  }
}

/** Length of the longest prefix that both have. */
export function sharedPrefix(a: readonly number[], b: readonly number[]): number {
  const end = Math.min(a.length, b.length);
  let length = 0;
  while (length < end && a[length] === b[length]) length++;
  return length;
}

/**
 * Reads logprobs; null where there are none. A single one that is missing, not finite, above 0 or vLLM's −9999 is null.
 *
 * @throws RowFault `WRONG_TYPE` when there are more or fewer than tokens
 */
export function logprobColumn(
  value: unknown,
  name: string,
  numTokens: number,
): readonly (number | null)[] | null {
  if (value === undefined || value === null) return null;
  const list = asList(value, name);
  if (list.length === 0) return null;
  if (list.length !== numTokens) {
    throw new RowFault('WRONG_TYPE', `"${name}" has ${list.length} values for ${numTokens} tokens`);
  }
  return list.map((item) => {
    const logprob = knownLogprob(item);
    return logprob !== null && logprob <= 0 ? logprob : null;
  });
}

/** Reads the logprobs of chat completions, `[{logprob}]`; null where there is not one for each token. */
export function contentLogprobs(content: unknown, numTokens: number): readonly (number | null)[] | null {
  if (!Array.isArray(content) || content.length !== numTokens) return null;
  const logprobs = content.map((item) => (isJsonObject(item) ? item.logprob : null));
  return logprobColumn(logprobs, 'logprobs.content', numTokens);
}
