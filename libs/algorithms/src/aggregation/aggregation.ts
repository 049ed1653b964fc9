import { AlgorithmError } from '../errors.js';
import {
  checkGroupIds,
  checkMask,
  checkName,
  checkOffsets,
  checkPositive,
  checkResults,
} from '../layout/check.js';

/**
 * Ways to combine the losses of single tokens into one number, Σ w_t ℓ_t:
 *
 * - `tokenMean`: mean over all tokens, w = 1/N.
 * - `tokenSum`: w = 1.
 * - `sequenceMeanTokenSum`: sum in each sequence, mean over sequences, w = 1/S.
 * - `sequenceMeanTokenMean`: mean in each sequence, mean over sequences, w = 1/(S·T_s).
 * - `sequenceMeanTokenSumNorm`: as `sequenceMeanTokenSum`, divided by a fixed horizon (Dr. GRPO), w = 1/(S·horizon).
 * - `groupMeanTokenMean`: mean over the tokens of each group, mean over groups, w = 1/(G·T_g).
 */
export const AGGREGATIONS = [
  'tokenMean',
  'tokenSum',
  'sequenceMeanTokenSum',
  'sequenceMeanTokenMean',
  'sequenceMeanTokenSumNorm',
  'groupMeanTokenMean',
] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

/** Denominators of a whole batch. Counted once, then passed to every micro-batch of it. */
export interface AggregationCounts {
  readonly numTokens: number;
  /** Sequences with at least one counted token. */
  readonly numSequences: number;
  /** Groups with at least one counted token. */
  readonly numGroups: number;
  /** Counted tokens of each group, by group number. */
  readonly tokensPerGroup: Float64Array;
}

export interface AggregatedTokens {
  /** Sequences over action tokens `[S + 1]`. */
  readonly offsets: Int32Array;
  /** Group number of each sequence `[S]`; needed for `groupMeanTokenMean`. */
  readonly groupIds?: Int32Array | null;
  /** 0 for tokens that were rejected `[N]`; null: all are kept. */
  readonly keep?: Uint8Array | null;
}

export interface AggregationOptions {
  readonly aggregation: Aggregation;
  readonly counts: AggregationCounts;
  /** For `sequenceMeanTokenSumNorm`: the fixed length that sums are divided by. */
  readonly horizon?: number | null;
  /**
   * Which tokens a sequence's own mean is over: `all` counts rejected ones, too, as `counts` does when it was counted
   * without `keep`; `kept` is verl's way. Default `all`.
   */
  readonly denominator?: 'all' | 'kept';
}

/**
 * Counts a batch for `aggregationWeights`. Leave `keep` out to count before any rejection (the default of the
 * design: rejected tokens weigh nothing but still count), pass it to count after, as verl does.
 */
export function countForAggregation(tokens: AggregatedTokens): AggregationCounts {
  const { offsets, groupIds = null, keep = null } = tokens;
  checkTokens(tokens, offsets.length - 1);
  const tokensPerGroup = new Float64Array(offsets.length - 1);
  let numTokens = 0;
  let numSequences = 0;
  for (let sequence = 0; sequence + 1 < offsets.length; sequence++) {
    const numCounted = countKept(offsets[sequence], offsets[sequence + 1], keep);
    numTokens += numCounted;
    numSequences += Number(numCounted > 0);
    if (groupIds !== null) tokensPerGroup[groupIds[sequence]] += numCounted;
  }
  const numGroups = tokensPerGroup.reduce((count, inGroup) => count + Number(inGroup > 0), 0);
  return { numTokens, numSequences, numGroups, tokensPerGroup };
}

/**
 * Weight of each token `[N]`, so that Σ w ℓ over the batch is the aggregated loss. As every denominator comes from
 * outside, the weights of a token do not depend on the micro-batch it is in, and micro-batches add up. Rejected
 * tokens, and everything where a denominator is 0 (an empty batch), weigh 0.
 *
 * In a micro-batch that holds some of the sequences, pass those sequences with their group numbers of the batch.
 *
 * @throws AlgorithmError `UNKNOWN_NAME`; `INVALID_ARGUMENT` for arrays that do not fit; `MISSING_INPUT` for
 * `groupMeanTokenMean` without groups or `sequenceMeanTokenSumNorm` without a horizon
 */
export function aggregationWeights(tokens: AggregatedTokens, options: AggregationOptions): Float32Array {
  const { offsets, keep = null } = tokens;
  checkName('aggregation', options.aggregation, AGGREGATIONS);
  checkTokens(tokens, options.counts.tokensPerGroup.length);
  const weights = new Float32Array(offsets[offsets.length - 1]);
  for (let sequence = 0; sequence + 1 < offsets.length; sequence++) {
    const start = offsets[sequence];
    const end = offsets[sequence + 1];
    const weight = weightInSequence(sequence, tokens, options);
    for (let t = start; t < end; t++) weights[t] = keep === null || keep[t] === 1 ? weight : 0;
  }
  checkResults({ weights });
  return weights;
}

function weightInSequence(
  sequence: number,
  { offsets, groupIds = null, keep = null }: AggregatedTokens,
  { aggregation, counts, horizon = null, denominator = 'all' }: AggregationOptions,
): number {
  switch (aggregation) {
    case 'tokenMean':
      return inverse(counts.numTokens);
    case 'tokenSum':
      return 1;
    case 'sequenceMeanTokenSum':
      return inverse(counts.numSequences);
    case 'sequenceMeanTokenMean': {
      const counted = countKept(
        offsets[sequence],
        offsets[sequence + 1],
        denominator === 'kept' ? keep : null,
      );
      return inverse(counts.numSequences * counted);
    }
    case 'sequenceMeanTokenSumNorm': {
      if (horizon === null) {
        throw new AlgorithmError(
          'MISSING_INPUT',
          'sequenceMeanTokenSumNorm needs a horizon to divide by; it is null',
        );
      }
      checkPositive({ horizon });
      return inverse(counts.numSequences * horizon);
    }
    case 'groupMeanTokenMean': {
      if (groupIds === null) {
        throw new AlgorithmError(
          'MISSING_INPUT',
          'groupMeanTokenMean needs the group of each sequence; groupIds is null',
        );
      }
      return inverse(counts.numGroups * counts.tokensPerGroup[groupIds[sequence]]);
    }
  }
}

function inverse(denominator: number): number {
  return denominator > 0 ? 1 / denominator : 0;
}

function countKept(start: number, end: number, keep: Uint8Array | null): number {
  if (keep === null) return end - start;
  let numKept = 0;
  for (let t = start; t < end; t++) numKept += keep[t];
  return numKept;
}

function checkTokens({ offsets, groupIds = null, keep = null }: AggregatedTokens, numGroups: number): void {
  checkOffsets('offsets', offsets, offsets[offsets.length - 1] ?? 0);
  if (groupIds !== null) checkGroupIds('groupIds', groupIds, offsets.length - 1, numGroups);
  if (keep !== null) checkMask('keep', keep, offsets[offsets.length - 1]);
}
