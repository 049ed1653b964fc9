import type { StoredStep } from '../stored-episode.js';

/** The whole prompt of a step, and what was sampled after it. */
export interface StepContext {
  readonly promptIds: readonly number[];
  readonly completionIds: readonly number[];
  /** Null where a token's is missing. */
  readonly logprobs: readonly number[] | null;
}

/**
 * Rebuilds each step's prompt from the tokens that the steps appended. Null from the first step on whose tokens are unknown, and for a
 * step whose sampled tokens are not one stretch at its end.
 */
export function contextsOf(steps: readonly StoredStep[]): (StepContext | null)[] {
  let context: readonly number[] | null = [];
  return steps.map(({ tokens }) => {
    if (context === null || tokens === null || tokens.ids.length === 0) {
      context = null;
      return null;
    }
    const { ids, mask, logprobs, keptPrefix } = tokens;
    const kept = context.slice(0, keptPrefix);
    context = [...kept, ...ids];
    const first = mask.indexOf(1);
    if (first < 0 || mask.indexOf(0, first) >= 0) return null;
    const sampled = logprobs.slice(first);
    return {
      promptIds: [...kept, ...ids.slice(0, first)],
      completionIds: ids.slice(first),
      logprobs: sampled.every((logprob) => logprob !== null) ? sampled : null,
    };
  });
}
