import { AlgorithmError } from '../errors.js';
import { checkName, checkPositive, checkResults, checkUnitInterval } from '../layout/check.js';
import { bootstrapInterval, type BootstrapOptions, type Interval } from './bootstrap.js';
import { clusterByGroup, sumByCluster, type Clusters } from './clusters.js';
import { diagnose, type OffPolicyDiagnostics } from './off-policy-diagnostics.js';
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
 * when the mean weight is not 1, so that actions of the candidate are missing from the episodes, however many they are. Intervals of
 * estimators that do not divide by the sum of the weights are extended by what the sample lacks of it ({@link missingWeight}).
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
  const missing = missingWeight(diagnostics);
  const estimates = estimators.map((estimator) => {
    const statistic = computeRatio(estimator, terms, clusters);
    const sampled = bootstrapInterval(numClusters, statistic, bootstrap);
    const interval = UNNORMALIZED.has(estimator) ? extend(sampled, missing, terms.returns) : sampled;
    const value = statistic(every);
    checkResults({ [estimator]: value, ...interval });
    return { estimator, value, interval };
  });
  return { kind: 'estimated', estimates, diagnostics };
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

/** Means of weighted values: weight that the sample lacks, they lack. */
const UNNORMALIZED: ReadonlySet<OffPolicyEstimator> = new Set(['importanceSampling', 'perDecision']);
/** Standard errors that the mean weight stays within in 95 of 100 samples. */
const LIKELY_ERRORS = 1.96;

/**
 * 1 − mean weight, where that is further from 0 than chance puts it, else 0. A sample without the few large weights has a mean weight
 * below 1, and too small an idea of its error.
 */
function missingWeight({ meanWeight, meanWeightError }: OffPolicyDiagnostics): number {
  const missing = 1 - meanWeight;
  return Math.abs(missing) > LIKELY_ERRORS * meanWeightError ? missing : 0;
}

/** An interval that also holds what it would be if the missing weight (or that in excess) lay on any of these returns. */
function extend({ low, high }: Interval, missing: number, returns: Iterable<number>): Interval {
  let [least, most] = [0, 0];
  for (const value of returns) {
    least = Math.min(least, missing * value);
    most = Math.max(most, missing * value);
  }
  return { low: low + least, high: high + most };
}

/** The estimator on a sample of clusters: a sum over their episodes by another. */
function computeRatio(
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
