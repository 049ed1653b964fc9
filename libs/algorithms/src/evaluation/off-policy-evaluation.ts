import { AlgorithmError } from '../errors.js';
import { checkName, checkPositive, checkResults, checkUnitInterval } from '../layout/check.js';
import { bootstrapInterval, type BootstrapOptions, type Interval } from './bootstrap.js';
import { clusterByGroup, sumByCluster, type Clusters } from './clusters.js';
import {
  checkLoggedEpisodes,
  episodeTerms,
  type EpisodeTerms,
  type LoggedEpisodes,
} from './logged-episodes.js';

export const OFF_POLICY_ESTIMATORS = [
  'importanceSampling',
  'perDecision',
  'weightedImportanceSampling',
  'doublyRobust',
] as const;
/**
 * With w = Π_t π/π_b of an episode and G its return (Precup, Sutton & Singh 2000; Jiang & Li, arXiv:1511.03722):
 *
 * - `importanceSampling`: mean of w·G. Unbiased.
 * - `perDecision`: mean of Σ_t γ^t ρ_{0:t} r_t. Unbiased, each reward weighted only by the decisions before it.
 * - `weightedImportanceSampling`: Σ w·G / Σ w. Biased but consistent, and of far smaller variance.
 * - `doublyRobust`: mean of Σ_t γ^t (ρ_{0:t}(r_t − Q_t) + ρ_{0:t−1} E_π Q_t). Unbiased whatever Q is, of small variance where Q
 *   is good. Q must have been fitted on other groups; a V critic is not enough.
 */
export type OffPolicyEstimator = (typeof OFF_POLICY_ESTIMATORS)[number];

export interface OffPolicyOptions {
  readonly estimators: readonly OffPolicyEstimator[];
  /** Discount per decision, in [0, 1]. */
  readonly gamma: number;
  /** Fewest effective episodes that an estimate may be based on. Default 30. */
  readonly minEffectiveEpisodes?: number;
  /** Fewest effective groups, since episodes of one group are evidence only together. Default 10, or `minEffectiveEpisodes` where that is less. */
  readonly minEffectiveGroups?: number;
  /** Largest distance of the mean episode weight from 1, unless four standard errors are more. Default 0.1. */
  readonly meanWeightTolerance?: number;
  readonly bootstrap: BootstrapOptions;
}

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

export interface OffPolicyEstimate {
  readonly estimator: OffPolicyEstimator;
  readonly value: number;
  readonly interval: Interval;
}

/** Estimates, or the reason why these episodes cannot support any and which ones would. */
export type OffPolicyEvaluation =
  | {
      readonly kind: 'estimated';
      readonly estimates: readonly OffPolicyEstimate[];
      readonly diagnostics: OffPolicyDiagnostics;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly diagnostics: OffPolicyDiagnostics };

/**
 * Estimates the value of a candidate policy from episodes of another policy; intervals by bootstrap over groups. It refuses (as a
 * result, not an exception) when the effective sample is too small, so that a few episodes or groups would decide every number; and
 * when the mean weight is not 1, so that actions of the candidate are missing from the episodes, however many they are.
 *
 * @throws AlgorithmError `UNKNOWN_NAME` for another estimator; `INVALID_ARGUMENT` for arrays that do not fit, values that are not finite, options outside their
 * range; `MISSING_INPUT` for `doublyRobust` without `qValues` and `stateValues`; `OVERFLOW` for an estimate beyond float32
 */
export function evaluateOffPolicy(episodes: LoggedEpisodes, options: OffPolicyOptions): OffPolicyEvaluation {
  const { estimators, gamma, minEffectiveEpisodes = 30, meanWeightTolerance = 0.1, bootstrap } = options;
  const { minEffectiveGroups = Math.min(10, minEffectiveEpisodes) } = options;
  checkLoggedEpisodes(episodes);
  estimators.forEach((estimator, i) => {
    checkName(`estimators[${i}]`, estimator, OFF_POLICY_ESTIMATORS);
  });
  checkUnitInterval({ gamma });
  checkPositive({ minEffectiveEpisodes, minEffectiveGroups, meanWeightTolerance });
  const terms = episodeTerms(episodes, gamma);
  if (estimators.includes('doublyRobust') && terms.doublyRobust === null) {
    throw new AlgorithmError(
      'MISSING_INPUT',
      'doublyRobust needs qValues and stateValues of a Q model fitted on other groups of episodes; a value critic is not enough',
    );
  }
  const clusters = clusterByGroup(episodes.groupIds, terms.logWeights.length);
  const diagnostics = diagnose(terms.logWeights, clusters);
  const reason =
    tooFewEffective(diagnostics, minEffectiveEpisodes) ??
    tooFewGroups(diagnostics, minEffectiveGroups) ??
    offMeanWeight(diagnostics, meanWeightTolerance);
  if (reason !== null) return { kind: 'refused', reason, diagnostics };
  const { numClusters } = clusters;
  const every = Int32Array.from({ length: numClusters }, (_, cluster) => cluster);
  const estimates = estimators.map((estimator) => {
    const statistic = ratioOf(estimator, terms, clusters);
    const interval = bootstrapInterval(numClusters, statistic, bootstrap);
    const value = statistic(every);
    checkResults({ [estimator]: value, ...interval });
    return { estimator, value, interval };
  });
  return { kind: 'estimated', estimates, diagnostics };
}

function diagnose(logWeights: Float64Array, clusters: Clusters): OffPolicyDiagnostics {
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

function tooFewEffective(
  { numEpisodes, effectiveEpisodes, largestWeightShare }: OffPolicyDiagnostics,
  least: number,
): string | null {
  if (effectiveEpisodes >= least) return null;
  if (numEpisodes === 0) {
    return (
      `there are no episodes; at least ${least} effective ones (minEffectiveEpisodes) are needed: ` +
      `${Math.ceil(least)} or more of the candidate itself, or of a policy close to it, would do`
    );
  }
  const more = Math.ceil((least / effectiveEpisodes) * numEpisodes) - numEpisodes;
  const share = (100 * largestWeightShare).toFixed(0);
  return (
    `${numEpisodes} episodes count as ${effectiveEpisodes.toFixed(1)} effective ones, at least ${least} ` +
    `(minEffectiveEpisodes) are needed (one episode carries ${share} % of the weight); about ${more} more episodes of this ` +
    `behavior policy, or ${Math.ceil(least - effectiveEpisodes)} and more of the candidate itself, would do`
  );
}

function tooFewGroups(
  { numEpisodes, numGroups, effectiveGroups }: OffPolicyDiagnostics,
  least: number,
): string | null {
  if (effectiveGroups >= least) return null;
  const more = Math.ceil((least / effectiveGroups) * numGroups) - numGroups;
  return (
    `${numEpisodes} episodes of ${numGroups} groups count as ${effectiveGroups.toFixed(1)} effective groups, at least ` +
    `${least} (minEffectiveGroups) are needed, as episodes of one task and seed are evidence only together; about ` +
    `${more} more groups of this behavior policy would do`
  );
}

function offMeanWeight(
  { meanWeight, meanWeightError }: OffPolicyDiagnostics,
  tolerance: number,
): string | null {
  const bound = Math.max(tolerance, 4 * meanWeightError);
  if (Math.abs(meanWeight - 1) <= bound) return null;
  const found = `the mean importance weight is ${meanWeight.toPrecision(3)}, must be within ${bound.toPrecision(2)} of 1: `;
  return meanWeight < 1
    ? found +
        "most of what the candidate would do isn't in these episodes, and more of this behavior policy will hardly bring it; " +
        'episodes of a policy that takes the actions of the candidate, or of the candidate itself, would do'
    : found +
        'the recorded logprobs of the behavior are lower than those it acted with; episodes with the logprobs of the policy ' +
        'that sampled them, at its temperature and with its masks, would do';
}

/** The estimator on a sample of clusters: a sum over their episodes by another. */
function ratioOf(
  estimator: OffPolicyEstimator,
  { returns, logWeights, perDecision, doublyRobust }: EpisodeTerms,
  clusters: Clusters,
): (sample: Int32Array) => number {
  const weights = logWeights.map(Math.exp);
  const weighted = weights.map((weight, e) => weight * returns[e]);
  const ones = weights.map(() => 1);
  const [numerators, denominators] = {
    importanceSampling: [weighted, ones],
    perDecision: [perDecision, ones],
    weightedImportanceSampling: [weighted, weights],
    doublyRobust: [doublyRobust ?? ones.map(() => NaN), ones],
  }[estimator].map((values) => sumByCluster(values, clusters));
  return (sample) => sumOver(numerators, sample) / sumOver(denominators, sample);
}

function sumOver(values: Float64Array, sample: Int32Array): number {
  let sum = 0;
  for (const index of sample) sum += values[index];
  return sum;
}
