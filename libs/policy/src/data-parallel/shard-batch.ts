import { selectTeacherTop } from '../logprobs/teacher-top.js';
import { mapLossColumns, type TrainingBatch } from '../losses/training-batch.js';

/** A run of whole sequences of a batch. */
export interface Shard {
  readonly batch: TrainingBatch;
  /** The range of its tokens in the whole batch. */
  readonly start: number;
  readonly end: number;
}

/**
 * Cuts a batch into at most `numShards` runs of whole sequences with about the same number of tokens; fewer if there are
 * fewer sequences. Sequences keep their order and their loss weights, so the shards' losses and gradients add up to the
 * whole batch's. The cut depends only on the batch and the number.
 */
export function shardBatch(batch: TrainingBatch, numShards: number): Shard[] {
  const { sequenceOffsets } = batch;
  const numSequences = sequenceOffsets.length - 1;
  const numTokens = sequenceOffsets[numSequences];
  const shards: Shard[] = [];
  let first = 0;
  for (let s = 1; s <= numSequences; s++) {
    const isFull = sequenceOffsets[s] * numShards >= numTokens * (shards.length + 1);
    if (!isFull && s < numSequences) continue;
    shards.push(sliceSequences(batch, first, s));
    first = s;
  }
  return shards;
}

function sliceSequences(batch: TrainingBatch, first: number, last: number): Shard {
  const [start, end] = [batch.sequenceOffsets[first], batch.sequenceOffsets[last]];
  return {
    start,
    end,
    batch: {
      tokenIds: batch.tokenIds.slice(start, end),
      sequenceOffsets: batch.sequenceOffsets.slice(first, last + 1).map((offset) => offset - start),
      lossWeights: batch.lossWeights.slice(start, end),
      ...(batch.teacherTop && {
        teacherTop: selectTeacherTop(batch.teacherTop, batch.teacherTop.rows.slice(start, end)),
      }),
      ...mapLossColumns(batch, (column) => column.slice(start, end)),
    },
  };
}
