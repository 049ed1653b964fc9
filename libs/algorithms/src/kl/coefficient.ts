import { checkFiniteNumber, checkNonNegative, checkPositive } from '../layout/check.js';

export interface AdaptiveKlOptions {
  /** Target of the mean KL, nats per token. */
  readonly target: number;
  /** Number of samples over which the coefficient may change by a fifth. */
  readonly horizon: number;
}

/**
 * Adaptive KL coefficient (Ziegler et al., arXiv:1909.08593, §2.2):
 * β ← β (1 + clip(KL/target − 1, ±0.2) · numSamples/horizon).
 *
 * @returns the coefficient for the next batch, ≥ 0
 * @throws AlgorithmError `INVALID_ARGUMENT` unless the mean KL is finite, β and the number of samples are ≥ 0, target and horizon > 0
 */
export function adaptKlCoefficient(
  coefficient: number,
  { meanKl, numSamples }: { readonly meanKl: number; readonly numSamples: number },
  { target, horizon }: AdaptiveKlOptions,
): number {
  checkNonNegative({ coefficient, numSamples });
  checkFiniteNumber({ meanKl });
  checkPositive({ target, horizon });
  const error = Math.min(0.2, Math.max(-0.2, meanKl / target - 1));
  return Math.max(0, coefficient * (1 + (error * numSamples) / horizon));
}
