import { checkLogprobs, checkMask } from '../layout/check.js';
import { clamp, LOG_RATIO_LIMIT } from '../losses/token-loss.js';

/** Statistics of the ratios of two policies over a set of tokens. All NaN (not available) without a token. */
export interface RatioStatistics {
  readonly numTokens: number;
  readonly meanRatio: number;
  readonly maxRatio: number;
  readonly minRatio: number;
  /** Largest |ρ − 1|: on policy it must be 0 to float tolerance. */
  readonly maxDeviation: number;
  /** Effective sample size over n, of the raw ratios. */
  readonly effectiveSampleFraction: number;
  /** E[ρ²] − 1. */
  readonly chiSquare: number;
  /** Mean of log π_denominator − log π_numerator: k1 of KL(denominator‖numerator). */
  readonly kl: number;
  /** The same by k3, which is never negative. */
  readonly klK3: number;
}

/**
 * Statistics of ρ = π_numerator/π_denominator per token, over the tokens whose mask is 1. Log ratios are clamped to ±20 in the
 * ratios, so that none overflows, and not in the mean of the logs, so that KL does not saturate.
 * `numerator [N]`, `denominator [N]` are logprobs under which the tokens of the denominator's policy were sampled.
 */
export function ratioStatistics(
  numerator: Float32Array,
  denominator: Float32Array,
  mask: Uint8Array | null = null,
): RatioStatistics {
  checkLogprobs({ numerator, denominator }, numerator.length);
  if (mask !== null) checkMask('mask', mask, numerator.length);
  let numTokens = 0;
  let sum = 0;
  let squares = 0;
  let sumOfLogs = 0;
  let maxRatio = -Infinity;
  let minRatio = Infinity;
  let maxDeviation = 0;
  for (let t = 0; t < numerator.length; t++) {
    if (mask !== null && mask[t] === 0) continue;
    const difference = numerator[t] - denominator[t];
    const logRatio = clamp(difference, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
    const ratio = Math.exp(logRatio);
    numTokens += 1;
    sum += ratio;
    squares += ratio * ratio;
    sumOfLogs += difference;
    maxRatio = Math.max(maxRatio, ratio);
    minRatio = Math.min(minRatio, ratio);
    maxDeviation = Math.max(maxDeviation, Math.abs(Math.expm1(logRatio)));
  }
  const available = numTokens > 0 ? 1 : NaN;
  return {
    numTokens,
    meanRatio: sum / numTokens,
    maxRatio: maxRatio * available,
    minRatio: minRatio * available,
    maxDeviation: maxDeviation * available,
    effectiveSampleFraction: (sum * sum) / (numTokens * squares),
    chiSquare: squares / numTokens - 1,
    kl: -sumOfLogs / numTokens,
    klK3: (sum - sumOfLogs) / numTokens - 1,
  };
}
