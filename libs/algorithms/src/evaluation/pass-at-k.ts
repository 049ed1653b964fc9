import { AlgorithmError } from '../errors.js';

/**
 * Unbiased estimate of the probability that at least one of k attempts at a task succeeds (Chen et al. 2021, equation 1):
 * 1 − C(n−c, k)/C(n, k), computed as 1 − Π_{i=n−c+1..n} (1 − k/i), which does not overflow.
 *
 * @param numAttempts n, at least k
 * @param numSuccesses c, of the n attempts
 * @throws AlgorithmError `INVALID_ARGUMENT`, naming the number
 */
export function passAtK(numAttempts: number, numSuccesses: number, k: number): number {
  requireWhole('k', k, 1, Infinity);
  requireWhole('numAttempts', numAttempts, k, Infinity);
  requireWhole('numSuccesses', numSuccesses, 0, numAttempts);
  const numFailures = numAttempts - numSuccesses;
  if (numFailures < k) return 1;
  let allFail = 1;
  for (let i = numFailures + 1; i <= numAttempts; i++) allFail *= 1 - k / i;
  return 1 - allFail;
}

function requireWhole(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  const range = max === Infinity ? `at least ${min}` : `from ${min} to ${max}`;
  throw new AlgorithmError('INVALID_ARGUMENT', `${name} is ${value}, must be a whole number ${range}`);
}
