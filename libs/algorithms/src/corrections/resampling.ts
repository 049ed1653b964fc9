import { AlgorithmError } from '../errors.js';
import { checkFinite, checkName, checkPositive } from '../layout/check.js';

export const RESAMPLING_RULES = ['power', 'extremes', 'best'] as const;
/**
 * `power`: |R|^power · `extremes`: 1 for the largest and the smallest return, 0 for the others · `best`: 0.4 for the largest,
 * 0.1 for the others. verl calls them `pow`, `max_min` and `max_random`.
 */
export type ResamplingRule = (typeof RESAMPLING_RULES)[number];

export interface ResamplingOptions {
  readonly rule: ResamplingRule;
  /** Exponent of `power`, > 0. Default 2. */
  readonly power?: number;
}

/** Keeps every chance above 0, as in verl. */
const LEAST_WEIGHT = 1e-8;

/**
 * Weights that PF-PPO draws the episodes of a batch with, with replacement, so that returns which are likely to be right are trained
 * more often (policy filtration, arXiv:2409.06957).
 *
 * @param returns of the episodes `[E]`
 * @returns weights > 0, not normalised `[E]`
 * @throws AlgorithmError `UNKNOWN_NAME` for another rule; `INVALID_ARGUMENT` for returns that are not finite, a power that is not > 0
 */
export function resamplingWeights(
  returns: Float64Array,
  { rule, power = 2 }: ResamplingOptions,
): Float64Array {
  checkName('rule', rule, RESAMPLING_RULES);
  checkFinite({ returns });
  checkPositive({ power });
  const largest = returns.reduce((most, value) => Math.max(most, value), -Infinity);
  const smallest = returns.reduce((least, value) => Math.min(least, value), Infinity);
  const weights = returns.map((value) => {
    switch (rule) {
      case 'power':
        return Math.abs(value) ** power;
      case 'extremes':
        return Number(value === largest || value === smallest);
      case 'best':
        return value === largest ? 0.4 : 0.1;
    }
  });
  const bad = weights.findIndex((weight) => !Number.isFinite(weight));
  if (bad === -1) return weights.map((weight) => weight + LEAST_WEIGHT);
  throw new AlgorithmError(
    'INVALID_ARGUMENT',
    `returns[${bad}] is ${returns[bad]}, whose power ${power} is too large for a number`,
  );
}
