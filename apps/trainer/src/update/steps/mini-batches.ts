import {
  aggregationWeights,
  countForAggregation,
  numberGroups,
  type AggregatedTokens,
  type Aggregation,
} from '@retrace/algorithms';
import type { OptimizerRecipe } from '@retrace/config';
import {
  mapLossColumns,
  selectTeacherTop,
  type TeacherTop,
  type TokenFigures,
  type TrainingBatch,
} from '@retrace/policy';
import { shuffle, type Pcg32 } from '@retrace/random';
import { gather, gatherMask, offsetsOfMarked, listPositions, scatter } from '../action-tokens.js';
import type { UpdateColumns } from '../loss-columns.js';

/** A random order of the sequences that train anything, each as often as it is to be trained. */
export function shuffledSequences(
  { sequenceActionOffsets, trainedMask, sequenceCopies }: UpdateColumns,
  random: Pcg32,
): Int32Array {
  const kept: number[] = [];
  for (let s = 0; s + 1 < sequenceActionOffsets.length; s++) {
    if (!trainedMask.subarray(sequenceActionOffsets[s], sequenceActionOffsets[s + 1]).includes(1)) continue;
    for (let copy = 0; copy < (sequenceCopies?.[s] ?? 1); copy++) kept.push(s);
  }
  const order = Int32Array.from(kept);
  shuffle(order, random);
  return order;
}

/** Size of a mini-batch: a number of sequences, or without one a number of trained tokens; without either it is the whole batch. */
export type MiniBatchSize = Pick<OptimizerRecipe, 'miniBatchActionTokens' | 'miniBatchSequences'>;

/**
 * Cuts an order of sequences into mini-batches of about the size asked for: their number is the rounded quotient (at least one) and they are as
 * even as whole sequences allow, so none is a small remainder.
 */
export function splitSequences(
  { sequenceActionOffsets, trainedMask }: Pick<UpdateColumns, 'sequenceActionOffsets' | 'trainedMask'>,
  order: Int32Array,
  { miniBatchActionTokens = Infinity, miniBatchSequences }: MiniBatchSize,
): Int32Array[] {
  if (typeof miniBatchSequences === 'number') {
    return splitEvenly(order, new Array<number>(order.length).fill(1), miniBatchSequences);
  }
  const counts = Array.from(order, (s) => {
    let count = 0;
    for (let a = sequenceActionOffsets[s]; a < sequenceActionOffsets[s + 1]; a++) count += trainedMask[a];
    return count;
  });
  return splitEvenly(order, counts, miniBatchActionTokens);
}

/**
 * Cuts an order into runs whose counts sum to about `wanted` each: their number is the rounded quotient (at least one) and they are as
 * even as whole items allow.
 *
 * @param counts of the items, in that order
 * @param wanted Infinity for a single run
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

/** Some sequences of an update, as an engine trains them: n tokens, of which a are action tokens. */
export interface MiniBatch {
  readonly batch: TrainingBatch;
  /** [a] Numbers of the action tokens in the columns of the update. */
  readonly actions: Int32Array;
  /** [a] Positions of the action tokens in [0, n). */
  readonly positions: Int32Array;
}

/** Gathers sequences into a mini-batch, with the weights of the aggregation over just these sequences. */
export function gatherSequences(
  columns: UpdateColumns,
  sequences: Int32Array,
  aggregation: AggregationRule,
): MiniBatch {
  const { sequenceOffsets, sequenceActionOffsets, trainedMask, keptMask } = columns;
  const offsets = gatheredOffsets(sequenceOffsets, sequences);
  const actionOffsets = gatheredOffsets(sequenceActionOffsets, sequences);
  const numTokens = offsets[sequences.length];
  const tokenIds = new Int32Array(numTokens);
  const actions = new Int32Array(actionOffsets[sequences.length]);
  const positions = new Int32Array(actions.length);
  sequences.forEach((s, i) => {
    tokenIds.set(columns.tokenIds.subarray(sequenceOffsets[s], sequenceOffsets[s + 1]), offsets[i]);
    const shift = offsets[i] - sequenceOffsets[s];
    for (let a = sequenceActionOffsets[s], k = actionOffsets[i]; a < sequenceActionOffsets[s + 1]; a++, k++) {
      actions[k] = a;
      positions[k] = columns.actionTokens[a] + shift;
    }
  });
  const weights = lossWeights(
    {
      trainedMask: gatherMask(trainedMask, actions),
      keptMask: keptMask && gatherMask(keptMask, actions),
      actionOffsets,
      sequenceGroups: Int32Array.from(sequences, (s) => columns.sequenceGroups[s]),
    },
    aggregation,
  );
  return {
    batch: {
      tokenIds,
      sequenceOffsets: offsets,
      lossWeights: scatter(weights, positions, numTokens),
      teacherTop: columns.teacherTop && topOfTokens(columns.teacherTop, { actions, positions, numTokens }),
      ...mapLossColumns(columns, (column) => scatter(gather(column, actions), positions, numTokens)),
    },
    actions,
    positions,
  };
}

interface PlacedActions {
  /** [a] */
  readonly actions: Int32Array;
  /** [a] Positions of these action tokens in [0, n). */
  readonly positions: Int32Array;
  readonly numTokens: number;
}

/** The tables of the action tokens [A] by the n tokens of a mini-batch. */
function topOfTokens(top: TeacherTop, { actions, positions, numTokens }: PlacedActions): TeacherTop {
  const rows = new Int32Array(numTokens).fill(-1);
  positions.forEach((n, k) => (rows[n] = top.rows[actions[k]]));
  return selectTeacherTop(top, rows);
}

/** [s + 1] Of these sequences, one after the other. @param offsets [S + 1] of all */
function gatheredOffsets(offsets: Int32Array, sequences: Int32Array): Int32Array {
  const ends = new Int32Array(sequences.length + 1);
  sequences.forEach((s, i) => {
    ends[i + 1] = ends[i] + offsets[s + 1] - offsets[s];
  });
  return ends;
}

export interface AggregationRule {
  readonly aggregation: Aggregation;
  /** The divisor of `sequenceMeanTokenSumNorm`, in tokens; null where another aggregation is used. */
  readonly horizon: number | null;
  /** Whether rejected tokens count in the denominators (`all`) or not (`kept`). */
  readonly denominator: 'all' | 'kept';
}

interface WeightedTokens {
  /** [a] 1 = trained. */
  readonly trainedMask: Uint8Array;
  /** [a] 0 at trained tokens that were rejected; null: none was. */
  readonly keptMask: Uint8Array | null;
  /** [s + 1] Sequences over the action tokens. */
  readonly actionOffsets: Int32Array;
  /** [s] Group number of each sequence. */
  readonly sequenceGroups: Int32Array;
}

/**
 * Weight of each token's loss, so that Σ w·ℓ is the aggregated loss of the batch: the aggregation sees the trained tokens
 * only, and all others weigh 0.
 *
 * @returns [a]
 */
export function lossWeights(
  { trainedMask, keptMask, actionOffsets, sequenceGroups }: WeightedTokens,
  { aggregation, horizon, denominator }: AggregationRule,
): Float32Array {
  const positions = listPositions(trainedMask);
  // Only the groups of these sequences, numbered from 0.
  const { groupIds } = numberGroups(Array.from(sequenceGroups, String));
  const tokens: AggregatedTokens = {
    offsets: offsetsOfMarked(actionOffsets, trainedMask),
    groupIds,
    keep: keptMask && gatherMask(keptMask, positions),
  };
  const counts = countForAggregation(denominator === 'kept' ? tokens : { ...tokens, keep: null });
  const trained = aggregationWeights(tokens, { aggregation, counts, horizon, denominator });
  return scatter(trained, positions, trainedMask.length);
}

/** The M tokens that an optimizer step trained, in the order of its mini-batch, with what its loss read of each. */
export interface OptimizerStepTokens extends TokenFigures {
  /** [M] Numbers of the action tokens in the columns of the update. */
  readonly actions: Int32Array;
  /** [M] NaN where the loss has none. */
  readonly advantages: Float32Array;
}

/** The trained tokens of a mini-batch: those with a weight other than 0. */
export function stepTokens(
  { actions, positions }: Pick<MiniBatch, 'actions' | 'positions'>,
  { lossWeights: weights, advantages = null }: Pick<TrainingBatch, 'lossWeights' | 'advantages'>,
  figures: TokenFigures,
): OptimizerStepTokens {
  const isTrained = (_: number, k: number) => weights[positions[k]] !== 0;
  const trained = positions.filter(isTrained);
  return {
    actions: actions.filter(isTrained),
    advantages: advantages ? gather(advantages, trained) : new Float32Array(trained.length).fill(Number.NaN),
    ratios: gather(figures.ratios, trained),
    values: gather(figures.values, trained),
    kls: gather(figures.kls, trained),
    entropies: gather(figures.entropies, trained),
    clipped: gatherMask(figures.clipped, trained),
  };
}
