import {
  AlgorithmError,
  crossFitLinearQ,
  evaluateOffPolicy,
  fittedQEvaluation,
  OFF_POLICY_ESTIMATORS,
  type Interval,
  type QTransitions,
} from '@retrace/algorithms';
import type { LoggedDecisions } from './logged-decisions.js';
import type { QFeatures } from './q-features.js';

export const POLICY_ESTIMATORS = [...OFF_POLICY_ESTIMATORS, 'fittedQ'] as const;
export type PolicyEstimator = (typeof POLICY_ESTIMATORS)[number];

/** Estimators that read a model of Q. */
export const Q_ESTIMATORS = ['doublyRobust', 'fittedQ'] as const satisfies readonly PolicyEstimator[];
type QEstimator = (typeof Q_ESTIMATORS)[number];

export interface PolicyEstimate {
  readonly estimator: PolicyEstimator;
  readonly value: number;
  readonly interval: Interval;
}

export interface UnavailableEstimator {
  readonly estimator: PolicyEstimator;
  readonly reason: string;
}

interface QEstimateOptions {
  readonly logged: LoggedDecisions;
  /** Discount per decision. */
  readonly gamma: number;
  readonly minEffectiveEpisodes?: number;
  readonly bootstrap: { readonly numResamples: number; readonly level: number; readonly seed: number };
}

/** Each of them fits the model from scratch. */
const NUM_FITTED_Q_RESAMPLES = 100;

/** Estimates with a Q model that is fitted on other groups than those that it is used on, or the reason why there are none. */
export function estimateWithQ(
  estimators: readonly QEstimator[],
  q: QFeatures,
  options: QEstimateOptions,
): { readonly estimates: readonly PolicyEstimate[]; readonly unavailable: readonly UnavailableEstimator[] } {
  const estimates: PolicyEstimate[] = [];
  const unavailable: UnavailableEstimator[] = [];
  for (const estimator of estimators) {
    const found = q.kind === 'none' ? q.reason : estimate(estimator, q.transitions, options);
    if (typeof found === 'string') unavailable.push({ estimator, reason: found });
    else estimates.push({ estimator, ...found });
  }
  return { estimates, unavailable };
}

/** The estimate, or a sentence that says why the episodes do not support it. */
function estimate(
  estimator: QEstimator,
  transitions: QTransitions,
  { logged, gamma, minEffectiveEpisodes, bootstrap }: QEstimateOptions,
): { readonly value: number; readonly interval: Interval } | string {
  try {
    if (estimator === 'fittedQ') {
      const fewer = { ...bootstrap, numResamples: NUM_FITTED_Q_RESAMPLES };
      return fittedQEvaluation(transitions, { gamma, bootstrap: fewer });
    }
    const fitted = crossFitLinearQ(transitions, { gamma });
    const robust = evaluateOffPolicy(
      { ...logged, ...fitted },
      { gamma, minEffectiveEpisodes, bootstrap, estimators: ['doublyRobust'] },
    );
    return robust.kind === 'refused' ? robust.reason : robust.estimates[0];
  } catch (error) {
    if (error instanceof AlgorithmError && error.code === 'INSUFFICIENT_DATA') return error.message;
    throw error;
  }
}
