import { AlgorithmError } from '../errors.js';
import { checkCounts, checkResults } from '../layout/check.js';
import { LOG_RATIO_LIMIT, clamp } from '../losses/token-loss.js';
import { ratioStatistics } from '../statistics/ratio-statistics.js';
import { checkCorrectionInput, sequenceLogRatios, type CorrectionInput } from './sequence-log-ratios.js';

/** How far the policy that trains is from the one that sampled. All NaN (not available) without a token. */
export interface CorrectionMetrics {
  /** KL(π_b‖π_prox) by k1 and by k3, nats per token. */
  readonly kl: number;
  readonly klK3: number;
  /** χ² = E[ρ²] − 1 over tokens, and with Π_t ρ_t over sequences. */
  readonly chiSquareToken: number;
  readonly chiSquareSequence: number;
  /** Mean over sequences of perplexity under π_prox over perplexity under π_b. */
  readonly perplexityRatio: number;
  /** Effective sample size over n of the raw token ratios. */
  readonly effectiveSampleFraction: number;
  readonly maxRatio: number;
  readonly numTokens: number;
}

/**
 * Metrics of ρ_b = π_prox/π_b over a batch; sequences without counted tokens are left out.
 *
 * @throws AlgorithmError `OVERFLOW` where the perplexities are too far apart for float32; else as `importanceWeights`
 */
export function correctionMetrics(input: CorrectionInput): CorrectionMetrics {
  checkCorrectionInput(input);
  const tokens = ratioStatistics(input.proximalLogprobs, input.behaviorLogprobs, input.keep ?? null);
  const { sums, counts } = sequenceLogRatios(input);
  let numSequences = 0;
  let squares = 0;
  let perplexityRatios = 0;
  sums.forEach((sum, sequence) => {
    if (counts[sequence] === 0) return;
    numSequences += 1;
    squares += Math.exp(2 * clamp(sum, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT));
    perplexityRatios += Math.exp(-sum / counts[sequence]);
  });
  const perplexityRatio = perplexityRatios / numSequences;
  if (numSequences > 0) checkResults({ perplexityRatio });
  return {
    kl: tokens.kl,
    klK3: tokens.klK3,
    chiSquareToken: tokens.chiSquare,
    chiSquareSequence: squares / numSequences - 1,
    perplexityRatio,
    effectiveSampleFraction: tokens.effectiveSampleFraction,
    maxRatio: tokens.maxRatio,
    numTokens: tokens.numTokens,
  };
}

/**
 * How many tokens are 0, 1, 2 … versions old `[maxStaleness + 2]`; the last entry counts all that are older.
 *
 * @param staleness versions between the policy that sampled each token and the one that trains `[N]`, ≥ 0
 */
export function stalenessHistogram(staleness: Int32Array, maxStaleness: number): Int32Array {
  if (!Number.isInteger(maxStaleness) || maxStaleness < 0) {
    throw new AlgorithmError('INVALID_ARGUMENT', `maxStaleness is ${maxStaleness}, must be an integer ≥ 0`);
  }
  checkCounts('staleness', staleness, staleness.length);
  const histogram = new Int32Array(maxStaleness + 2);
  staleness.forEach((versions) => {
    histogram[Math.min(versions, maxStaleness + 1)] += 1;
  });
  return histogram;
}
