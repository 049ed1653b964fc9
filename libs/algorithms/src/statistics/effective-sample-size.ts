import { checkFinite, type NumericArray } from '../layout/check.js';

/**
 * Effective sample size as a fraction of the samples, (Σw)²/(n Σw²), in (0, 1]. Pass *raw* importance weights, as truncation
 * would hide the degeneracy that this figure shows. NaN (not available) without samples or with weights all 0.
 */
export function effectiveSampleFraction(weights: NumericArray): number {
  checkFinite({ weights });
  let sum = 0;
  let squares = 0;
  for (const weight of weights) {
    sum += weight;
    squares += weight * weight;
  }
  return squares === 0 ? NaN : (sum * sum) / (weights.length * squares);
}
