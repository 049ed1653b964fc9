import type { OptimizerRecipe } from '@retrace/config';
import { shuffle, type Pcg32 } from '@retrace/random';
import { mapLossColumns, type LossColumns, type SequenceBatch, type TrainingBatch } from '@retrace/policy';
import { lossWeights, type AggregationRule } from './loss-weights.js';

/** Whole sequences that an update trains, flat over their N tokens, with the columns that the loss reads. */
export interface UpdateColumns extends SequenceBatch, LossColumns {
  /** [S] Group number of each sequence. */
  readonly sequenceGroups: Int32Array;
  /** [S] How often each sequence is trained in an epoch; null: once. */
  readonly sequenceCopies: Int32Array | null;
  /** [N] 1 = an action token that this update trains. */
  readonly trainedMask: Uint8Array;
  /** [N] 0 at trained tokens that rollout correction rejected; null: none was. */
  readonly keptMask: Uint8Array | null;
}

/** A random order of the sequences that train anything, each as often as it is to be trained. */
export function shuffledSequences(
  columns: Pick<UpdateColumns, 'sequenceOffsets' | 'trainedMask' | 'sequenceCopies'>,
  random: Pcg32,
): Int32Array {
  const { sequenceOffsets, trainedMask, sequenceCopies } = columns;
  const kept: number[] = [];
  for (let s = 0; s + 1 < sequenceOffsets.length; s++) {
    if (!trainedMask.subarray(sequenceOffsets[s], sequenceOffsets[s + 1]).includes(1)) continue;
    for (let copy = 0; copy < (sequenceCopies?.[s] ?? 1); copy++) kept.push(s);
  }
  const order = Int32Array.from(kept);
  shuffle(order, random);
  return order;
}

/** Size of a mini-batch: a number of sequences, or without one a number of trained tokens. */
export type MiniBatchSize = Pick<OptimizerRecipe, 'miniBatchActionTokens' | 'miniBatchSequences'>;

/**
 * Cuts an order of sequences into mini-batches of about the size asked for: their number is the rounded quotient (at least one) and they are as
 * even as whole sequences allow, so none is a small remainder.
 */
export function splitSequences(
  columns: Pick<UpdateColumns, 'sequenceOffsets' | 'trainedMask'>,
  order: Int32Array,
  { miniBatchActionTokens, miniBatchSequences }: MiniBatchSize,
): Int32Array[] {
  const { sequenceOffsets, trainedMask } = columns;
  if (typeof miniBatchSequences === 'number') {
    return splitEvenly(order, new Array<number>(order.length).fill(1), miniBatchSequences);
  }
  const counts = Array.from(order, (s) => {
    let count = 0;
    for (let n = sequenceOffsets[s]; n < sequenceOffsets[s + 1]; n++) count += trainedMask[n];
    return count;
  });
  return splitEvenly(order, counts, miniBatchActionTokens);
}

/**
 * Cuts an order into runs whose counts sum to about `wanted` each: their number is the rounded quotient (at least one) and they are as
 * even as whole items allow.
 *
 * @param counts of the items, in that order
 */
export function splitEvenly(order: Int32Array, counts: readonly number[], wanted: number): Int32Array[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const numBatches = Math.max(1, Math.round(total / wanted));
  const batches: Int32Array[] = [];
  let start = 0;
  let seen = 0;
  for (let i = 0; i < order.length; i++) {
    seen += counts[i];
    if (seen >= ((batches.length + 1) * total) / numBatches) {
      batches.push(order.subarray(start, i + 1));
      start = i + 1;
    }
  }
  if (start < order.length) batches.push(order.subarray(start));
  return batches;
}

/** Gathers sequences into a training batch, with the weights of the aggregation over just these sequences. */
export function gatherSequences(
  columns: UpdateColumns,
  sequences: Int32Array,
  aggregation: AggregationRule,
): TrainingBatch {
  const offsets = new Int32Array(sequences.length + 1);
  sequences.forEach((s, i) => {
    offsets[i + 1] = offsets[i] + columns.sequenceOffsets[s + 1] - columns.sequenceOffsets[s];
  });
  const numTokens = offsets[sequences.length];
  const gather = <T extends Int32Array | Float32Array | Uint8Array>(source: T, target: T): T => {
    sequences.forEach((s, i) => {
      target.set(source.subarray(columns.sequenceOffsets[s], columns.sequenceOffsets[s + 1]), offsets[i]);
    });
    return target;
  };
  const gatherMask = (source: Uint8Array) => gather(source, new Uint8Array(numTokens));
  const weighted = {
    trainedMask: gatherMask(columns.trainedMask),
    keptMask: columns.keptMask && gatherMask(columns.keptMask),
    sequenceOffsets: offsets,
    sequenceGroups: Int32Array.from(sequences, (s) => columns.sequenceGroups[s]),
  };
  return {
    tokenIds: gather(columns.tokenIds, new Int32Array(numTokens)),
    sequenceOffsets: offsets,
    lossWeights: lossWeights(weighted, aggregation),
    ...mapLossColumns(columns, (column) => gather(column, new Float32Array(numTokens))),
  };
}
