import { buildTokenBatch, type EpisodeColumns } from '@retrace/trajectory';
import type { UpdateColumns } from './mini-batches.js';

/** Behavior cloning trains every action token of the demonstrations; no logprob of the demonstrator is needed. */
export function imitationColumns(columns: EpisodeColumns): UpdateColumns {
  const batch = buildTokenBatch(columns);
  const numTokens = batch.tokenIds.length;
  return {
    tokenIds: batch.tokenIds,
    sequenceOffsets: batch.sequenceOffsets,
    sequenceGroups: new Int32Array(batch.sequenceOffsets.length - 1),
    trainedMask: batch.actionMask,
    keptMask: null,
    rolloutWeights: null,
    advantages: new Float32Array(numTokens),
    anchorLogprobs: new Float32Array(numTokens),
    behaviorLogprobs: null,
    referenceLogprobs: null,
    returns: null,
    proximalValues: null,
  };
}
