import type { StoredStep } from '../stored-episode.js';

/** The prompt of a step, and what was sampled after it. */
export interface CallTokenIds {
  readonly numPromptTokens: number;
  /** The whole prompt; null where the trajectory's prompts would be too many tokens. */
  readonly promptIds: readonly number[] | null;
  /** The part of the prompt that is new, and how many tokens of the context it kept. */
  readonly appended: { readonly ids: readonly number[]; readonly keptPrefix: number };
  readonly completionIds: readonly number[];
  /** Null where a token's is missing. */
  readonly logprobs: readonly number[] | null;
}

/**
 * Most tokens of all prompts of a trajectory that are written whole, about 7 MB. Whole prompts take room by the square of the turns: 107 MB
 * for 500 turns of 240 tokens.
 */
const MAX_PROMPT_TOKENS = 1_000_000;

/**
 * Rebuilds each step's prompt from the tokens that the steps appended. Null from the first step on whose tokens are unknown, and for a
 * step whose sampled tokens are not one stretch at its end.
 */
export function stepTokens(steps: readonly StoredStep[]): (CallTokenIds | null)[] {
  const isWhole = numPromptTokens(steps) <= MAX_PROMPT_TOKENS;
  let context: readonly number[] | null = [];
  let numContext = 0;
  return steps.map(({ tokens }) => {
    if (context === null || tokens === null || tokens.ids.length === 0) {
      context = null;
      return null;
    }
    const { ids, mask, logprobs } = tokens;
    const keptPrefix = Math.min(tokens.keptPrefix, numContext);
    const kept: readonly number[] = isWhole ? context.slice(0, keptPrefix) : [];
    if (isWhole) context = [...kept, ...ids];
    numContext = keptPrefix + ids.length;
    const first = mask.indexOf(1);
    if (first < 0 || mask.indexOf(0, first) >= 0) return null;
    const sampled = logprobs.slice(first);
    const added = ids.slice(0, first);
    return {
      numPromptTokens: keptPrefix + first,
      promptIds: isWhole ? [...kept, ...added] : null,
      appended: { ids: added, keptPrefix },
      completionIds: ids.slice(first),
      logprobs: sampled.every((logprob) => logprob !== null) ? sampled : null,
    };
  });
}

function numPromptTokens(steps: readonly StoredStep[]): number {
  let numContext = 0;
  let sum = 0;
  for (const { tokens } of steps) {
    if (tokens === null) continue;
    const kept = Math.min(tokens.keptPrefix, numContext);
    sum += kept + tokens.ids.length;
    numContext = kept + tokens.ids.length;
  }
  return sum;
}
