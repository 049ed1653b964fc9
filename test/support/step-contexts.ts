import type { SequenceBatch } from '@retrace/policy';
import { expect } from 'vitest';

/** A row of the view `steps`. */
export interface Step {
  readonly episode_id: string;
  readonly kept_prefix_tokens: number;
  readonly token_ids: number[];
  readonly action_mask: number[];
  readonly token_logprobs: number[];
  readonly token_policy_versions: number[];
}

/** The contexts of episodes whose context only grows: the tokens of the steps of each, one after another. */
export function replayContexts(steps: readonly Step[]) {
  const offsets = [0];
  let numTokens = 0;
  steps.forEach(({ episode_id, kept_prefix_tokens, token_ids }, s) => {
    if (s > 0 && episode_id !== steps[s - 1].episode_id) offsets.push(numTokens);
    expect(kept_prefix_tokens).toBe(numTokens - offsets[offsets.length - 1]);
    numTokens += token_ids.length;
  });
  if (numTokens > 0) offsets.push(numTokens);
  const batch: SequenceBatch = {
    tokenIds: Int32Array.from(steps.flatMap(({ token_ids }) => token_ids)),
    sequenceOffsets: Int32Array.from(offsets),
  };
  return {
    batch,
    actionMask: Uint8Array.from(steps.flatMap(({ action_mask }) => action_mask)),
    logprobs: steps.flatMap(({ token_logprobs }) => token_logprobs),
    versions: steps.flatMap(({ token_policy_versions }) => token_policy_versions),
  };
}
