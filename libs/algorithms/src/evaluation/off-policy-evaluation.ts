import { AlgorithmError } from '../errors.js';
import { checkPositive, checkUnitInterval } from '../layout/check.js';
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
  readonly bootstrap: BootstrapOptions;
}

/** How well the logged episodes can speak for the candidate. */
export interface OffPolicyDiagnostics {
  readonly numEpisodes: number;
  /** (Σw)²/Σw² of the raw episode weights. */
  readonly effectiveEpisodes: number;
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
 * few episodes.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for arrays that do not fit, values that are not finite, options outside their
 * range; `MISSING_INPUT` for `doublyRobust` without `qValues` and `stateValues`
 */
export function evaluateOffPolicy(episodes: LoggedEpisodes, options: OffPolicyOptions): OffPolicyEvaluation {
  const { estimators, gamma, minEffectiveEpisodes = 30, bootstrap } = options;
  checkLoggedEpisodes(episodes);
  checkUnitInterval('gamma', gamma);
  checkPositive('minEffectiveEpisodes', minEffectiveEpisodes);
  const terms = episodeTerms(episodes, gamma);
  if (estimators.includes('doublyRobust') && terms.doublyRobust === null) {
    throw new AlgorithmError(
      'MISSING_INPUT',
      'doublyRobust needs qValues and stateValues of a Q model fitted on other episodes; a value critic is not enough',
    );
  }
  const diagnostics = diagnose(terms.logWeights);
  if (!(diagnostics.effectiveEpisodes >= minEffectiveEpisodes)) {
    return { kind: 'refused', reason: refusal(diagnostics, minEffectiveEpisodes), diagnostics };
  }
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
  if (numEpisodes === 0)
    return { numEpisodes, effectiveEpisodes: 0, chiSquare: NaN, largestWeightShare: NaN };
  // Scaled by the largest weight, so that nothing overflows; all but χ² do not depend on the scale.
  const largest = logWeights.reduce((most, log) => Math.max(most, log), -Infinity);
  let sum = 0;
  let squares = 0;
  for (const log of logWeights) {
    const weight = Math.exp(log - largest);
    sum += weight;
    squares += weight * weight;
  }
  return {
    numEpisodes,
    effectiveEpisodes: (sum * sum) / squares,
    chiSquare: (squares / numEpisodes) * Math.exp(2 * largest) - 1,
    largestWeightShare: 1 / sum,
  };
}

function refusal(
  { numEpisodes, effectiveEpisodes, largestWeightShare }: OffPolicyDiagnostics,
  least: number,
): string {
  if (numEpisodes === 0) return `there are no episodes; at least ${String(least)} effective ones are needed`;
  const needed = Math.ceil((least / effectiveEpisodes) * numEpisodes);
  const share = (100 * largestWeightShare).toFixed(0);
  return (
    `${String(numEpisodes)} episodes count as ${effectiveEpisodes.toFixed(1)} effective ones, at least ${String(least)} are needed ` +
    `(one episode carries ${share} % of the weight); about ${String(needed)} episodes of this behavior policy, or fewer of one ` +
    'closer to the candidate, would do'
  );
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
