import {
  aggregationWeights,
  countForAggregation,
  numberGroups,
  type AggregatedTokens,
  type Aggregation,
} from '@retrace/algorithms';
import { gatherMask, positionsOf, scatter, sequenceActionOffsets } from './token-columns.js';

export interface AggregationRule {
  readonly aggregation: Aggregation;
  /** The divisor of `sequenceMeanTokenSumNorm`, in tokens; null where another aggregation is used. */
  readonly horizon: number | null;
  /** Whether rejected tokens count in the denominators (`all`) or not (`kept`). */
  readonly denominator: 'all' | 'kept';
}

interface WeightedTokens {
  /** [N] 1 = trained. */
  readonly trainedMask: Uint8Array;
  /** [N] 0 at trained tokens that were rejected; null: none was. */
  readonly keptMask: Uint8Array | null;
  /** [S + 1] */
  readonly sequenceOffsets: Int32Array;
  /** [S] Group number of each sequence. */
  readonly sequenceGroups: Int32Array;
}

/**
 * Weight of each token's loss, so that Σ w·ℓ is the aggregated loss of the batch: the aggregation sees the trained tokens
 * only, their weights are put back at their positions, and all others weigh 0.
 *
 * @returns [N]
 */
export function lossWeights(
  { trainedMask, keptMask, sequenceOffsets, sequenceGroups }: WeightedTokens,
  { aggregation, horizon, denominator }: AggregationRule,
): Float32Array {
  const offsets = sequenceActionOffsets({ sequenceOffsets }, trainedMask);
  const positions = positionsOf(trainedMask);
  // Only the groups of these sequences, numbered from 0.
  const { groupIds } = numberGroups(Array.from(sequenceGroups, String));
  const tokens: AggregatedTokens = {
    offsets,
    groupIds,
    keep: keptMask && gatherMask(keptMask, positions),
  };
  const counts = countForAggregation(denominator === 'kept' ? tokens : { ...tokens, keep: null });
  const trained = aggregationWeights(tokens, { aggregation, counts, horizon, denominator });
  return scatter(trained, positions, trainedMask.length);
}
