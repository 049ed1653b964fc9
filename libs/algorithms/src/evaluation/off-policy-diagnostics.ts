import { sumByCluster, type Clusters } from './clusters.js';

/** How much the logged episodes say about the candidate. */
export interface OffPolicyDiagnostics {
  readonly numEpisodes: number;
  /** (Σw)²/Σw² of the raw episode weights. It does not see their size: weights that are all equally tiny count in full. */
  readonly effectiveEpisodes: number;
  /** Groups that the episodes belong to; without groups the episodes themselves. */
  readonly numGroups: number;
  /** (ΣW)²/ΣW² of the sums W of the weights of each group. */
  readonly effectiveGroups: number;
  /** Mean of the raw episode weights. E[w] = 1 wherever the behavior policy takes all that the candidate would. */
  readonly meanWeight: number;
  /** Standard error of that mean: by episodes or by groups, whichever is larger; 0 for a single one. */
  readonly meanWeightError: number;
  /** χ²(candidate‖behavior) over episodes, E[w²] − 1. */
  readonly chiSquare: number;
  /** Share of the largest episode weight in their sum. */
  readonly largestWeightShare: number;
}

/** Of the raw log weights of each episode `[E]`; NaN where there are no episodes. */
export function diagnose(logWeights: Float64Array, clusters: Clusters): OffPolicyDiagnostics {
  const numEpisodes = logWeights.length;
  if (numEpisodes === 0) {
    return {
      numEpisodes,
      effectiveEpisodes: 0,
      numGroups: 0,
      effectiveGroups: 0,
      meanWeight: NaN,
      meanWeightError: NaN,
      chiSquare: NaN,
      largestWeightShare: NaN,
    };
  }
  // Scaled by the largest weight, so that no sum overflows.
  const largest = logWeights.reduce((most, log) => Math.max(most, log), -Infinity);
  const scale = Math.exp(largest);
  const weights = logWeights.map((log) => Math.exp(log - largest));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const squares = weights.reduce((total, weight) => total + weight * weight, 0);
  const mean = sum / numEpisodes;
  const groupWeights = sumByCluster(weights, clusters);
  const deviations = weights.map((weight) => weight - mean);
  const sumOfSquares = (values: Float64Array) => values.reduce((total, value) => total + value * value, 0);
  const { numClusters } = clusters;
  /** Of n summands that are evidence each by itself. */
  const errorOf = (summands: Float64Array, n: number) =>
    n === 1 ? 0 : Math.sqrt((n / (n - 1)) * sumOfSquares(summands)) / numEpisodes;
  const meanError = Math.max(
    errorOf(deviations, numEpisodes),
    errorOf(sumByCluster(deviations, clusters), numClusters),
  );
  return {
    numEpisodes,
    effectiveEpisodes: (sum * sum) / squares,
    numGroups: numClusters,
    effectiveGroups: (sum * sum) / sumOfSquares(groupWeights),
    meanWeight: mean * scale,
    meanWeightError: meanError === 0 ? 0 : meanError * scale,
    chiSquare: (squares / numEpisodes) * Math.exp(2 * largest) - 1,
    largestWeightShare: 1 / sum,
  };
}
