import { AlgorithmError } from '../errors.js';
import { checkName, checkPositive, checkUnitInterval } from '../layout/check.js';
import { bootstrapInterval, type BootstrapOptions, type Interval } from './bootstrap.js';
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
 * - `perDecision`: mean of Σ_t γ^t ρ_{0:t} r_t. Unbiased, each reward weighted by the decisions before it alone.
 * - `weightedImportanceSampling`: Σ w·G / Σ w. Biased but consistent, and of far smaller variance.
 * - `doublyRobust`: mean of Σ_t γ^t (ρ_{0:t}(r_t − Q_t) + ρ_{0:t−1} E_π Q_t). Unbiased whatever Q is, of small variance where Q
 *   is good. Q must not have been fitted on the same episodes; a V critic is not enough.
 */
export type OffPolicyEstimator = (typeof OFF_POLICY_ESTIMATORS)[number];

export interface OffPolicyOptions {
  readonly estimators: readonly OffPolicyEstimator[];
  /** Discount per decision, in [0, 1]. */
  readonly gamma: number;
  /** Fewest effective episodes that an estimate may stand on. Default 30. */
  readonly minEffectiveEpisodes?: number;
  /** How far the mean episode weight may be from 1 beyond chance (four standard errors). Default 0.1. */
  readonly meanWeightTolerance?: number;
  readonly bootstrap: BootstrapOptions;
}

/** How well the logged episodes can speak for the candidate. */
export interface OffPolicyDiagnostics {
  readonly numEpisodes: number;
  /** (Σw)²/Σw² of the raw episode weights. It does not see their size: weights that are all equally tiny count in full. */
  readonly effectiveEpisodes: number;
  /** Mean of the raw episode weights. E[w] = 1 wherever the behavior policy takes all that the candidate would. */
  readonly meanWeight: number;
  /** Standard error of that mean; 0 for a single episode. */
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

/** Either estimates, or the reason why these episodes cannot support any, and what would. Diagnostics always. */
export type OffPolicyEvaluation =
  | {
      readonly kind: 'estimated';
      readonly estimates: readonly OffPolicyEstimate[];
      readonly diagnostics: OffPolicyDiagnostics;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly diagnostics: OffPolicyDiagnostics };

/**
 * The value of a candidate policy, estimated from episodes that another policy acted out; intervals by bootstrap over
 * episodes. It refuses, as a value, when the effective sample is too small: then every number would be the accident of a
 * few episodes; and when the mean weight is not 1: then the episodes lack what the candidate does, however many they are.
 *
 * @throws AlgorithmError `UNKNOWN_NAME` for another estimator; `INVALID_ARGUMENT` for arrays that do not fit, values that are not finite, options outside their
 * range; `MISSING_INPUT` for `doublyRobust` without `qValues` and `stateValues`
 */
export function evaluateOffPolicy(episodes: LoggedEpisodes, options: OffPolicyOptions): OffPolicyEvaluation {
  const { estimators, gamma, minEffectiveEpisodes = 30, meanWeightTolerance = 0.1, bootstrap } = options;
  checkLoggedEpisodes(episodes);
  estimators.forEach((estimator, i) => {
    checkName(`estimators[${String(i)}]`, estimator, OFF_POLICY_ESTIMATORS);
  });
  checkUnitInterval('gamma', gamma);
  checkPositive('minEffectiveEpisodes', minEffectiveEpisodes);
  checkPositive('meanWeightTolerance', meanWeightTolerance);
  const terms = episodeTerms(episodes, gamma);
  if (estimators.includes('doublyRobust') && terms.doublyRobust === null) {
    throw new AlgorithmError(
      'MISSING_INPUT',
      'doublyRobust needs qValues and stateValues of a Q model fitted on other episodes; a value critic is not enough',
    );
  }
  const diagnostics = diagnose(terms.logWeights);
  const reason =
    tooFewEffective(diagnostics, minEffectiveEpisodes) ?? offMeanWeight(diagnostics, meanWeightTolerance);
  if (reason !== null) return { kind: 'refused', reason, diagnostics };
  const weights = terms.logWeights.map(Math.exp);
  const estimates = estimators.map((estimator) => {
    const statistic = statisticOf(estimator, terms, weights);
    const all = Int32Array.from(weights.keys());
    const interval = bootstrapInterval(weights.length, statistic, bootstrap);
    return { estimator, value: statistic(all), interval };
  });
  return { kind: 'estimated', estimates, diagnostics };
}

function diagnose(logWeights: Float64Array): OffPolicyDiagnostics {
  const numEpisodes = logWeights.length;
  if (numEpisodes === 0) {
    return {
      numEpisodes,
      effectiveEpisodes: 0,
      meanWeight: NaN,
      meanWeightError: NaN,
      chiSquare: NaN,
      largestWeightShare: NaN,
    };
  }
  // Scaled by the largest weight, so that no sum overflows.
  const largest = logWeights.reduce((most, log) => Math.max(most, log), -Infinity);
  let sum = 0;
  let squares = 0;
  for (const log of logWeights) {
    const weight = Math.exp(log - largest);
    sum += weight;
    squares += weight * weight;
  }
  const scale = Math.exp(largest);
  const variance = Math.max(0, squares - (sum * sum) / numEpisodes) / Math.max(1, numEpisodes - 1);
  return {
    numEpisodes,
    effectiveEpisodes: (sum * sum) / squares,
    meanWeight: (sum / numEpisodes) * scale,
    meanWeightError: variance === 0 ? 0 : Math.sqrt(variance / numEpisodes) * scale,
    chiSquare: (squares / numEpisodes) * Math.exp(2 * largest) - 1,
    largestWeightShare: 1 / sum,
  };
}

function tooFewEffective(
  { numEpisodes, effectiveEpisodes, largestWeightShare }: OffPolicyDiagnostics,
  least: number,
): string | null {
  if (effectiveEpisodes >= least) return null;
  if (numEpisodes === 0) return `there are no episodes; at least ${String(least)} effective ones are needed`;
  const needed = Math.ceil((least / effectiveEpisodes) * numEpisodes);
  const share = (100 * largestWeightShare).toFixed(0);
  return (
    `${String(numEpisodes)} episodes count as ${effectiveEpisodes.toFixed(1)} effective ones, at least ${String(least)} are needed ` +
    `(one episode carries ${share} % of the weight); about ${String(needed)} episodes of this behavior policy, or fewer of one ` +
    'closer to the candidate, would do'
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

/** The estimator on a sample of episodes. */
function statisticOf(
  estimator: OffPolicyEstimator,
  terms: EpisodeTerms,
  weights: Float64Array,
): (sample: Int32Array) => number {
  const weighted = weights.map((weight, e) => weight * terms.returns[e]);
  switch (estimator) {
    case 'importanceSampling':
      return (sample) => sumOver(weighted, sample) / sample.length;
    case 'perDecision':
      return (sample) => sumOver(terms.perDecision, sample) / sample.length;
    case 'weightedImportanceSampling':
      return (sample) => sumOver(weighted, sample) / sumOver(weights, sample);
    case 'doublyRobust': {
      const contributions = terms.doublyRobust ?? new Float64Array(weights.length).fill(NaN);
      return (sample) => sumOver(contributions, sample) / sample.length;
    }
  }
}

function sumOver(values: Float64Array, sample: Int32Array): number {
  let sum = 0;
  for (const index of sample) sum += values[index];
  return sum;
}
