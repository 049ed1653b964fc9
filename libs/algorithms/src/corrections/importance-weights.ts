import { AlgorithmError } from '../errors.js';
import { checkName, checkPositive, checkResults } from '../layout/check.js';
import { LOG_RATIO_LIMIT, clamp } from '../losses/token-loss.js';
import { effectiveSampleFraction } from '../statistics/effective-sample-size.js';
import {
  checkCorrectionInput,
  sequenceLogRatios,
  tokenLogRatio,
  type CorrectionInput,
} from './sequence-log-ratios.js';

export const IMPORTANCE_LEVELS = ['token', 'sequence', 'geometric'] as const;
/** `token`: ρ_t · `sequence`: Π_t ρ_t, unbiased but exploding with length · `geometric`: (Π_t ρ_t)^{1/T}. */
export type ImportanceLevel = (typeof IMPORTANCE_LEVELS)[number];

export interface ImportanceOptions {
  readonly level: ImportanceLevel;
  /** Upper bound C > 0. */
  readonly cap: number;
  /** With a floor, weights outside [floor, cap] become 0 (IcePop) instead of being held at the cap. */
  readonly floor?: number | null;
  /** Divide by the mean weight of the batch after truncation, taken over tokens or, at the other levels, over sequences. */
  readonly normalize?: boolean;
}

export interface ImportanceWeights {
  /** Fixed weight of each token `[N]`; 0 for tokens that do not count. */
  readonly weights: Float32Array;
  /** Effective sample size over n of the *raw* weights, since truncation would hide their degeneracy. */
  readonly effectiveSampleFraction: number;
  readonly maxRawWeight: number;
  /** Share of the raw weights over the cap. */
  readonly highFraction: number;
  /** Share of the raw weights under the floor, or under 1/cap where there is none. */
  readonly lowFraction: number;
  /** Messages to the user. */
  readonly warnings: readonly string[];
}

/** Below this many tokens a product of ratios does not explode for want of length. */
const LONG_SEQUENCE = 32;

/**
 * Truncated importance weights of the behavior policy, min(ρ_b, C) at one of three levels, logs clamped to ±20. At the
 * sequence levels every token carries the weight of its sequence. Computed over a whole batch, before it is cut.
 *
 * @throws AlgorithmError `UNKNOWN_NAME` for another level; `INVALID_ARGUMENT` for arrays that do not fit, logprobs that are not finite, a cap that is not > 0, a
 * floor not in (0, cap]
 */
export function importanceWeights(input: CorrectionInput, options: ImportanceOptions): ImportanceWeights {
  const { level, cap, floor = null, normalize = false } = options;
  checkName('level', level, IMPORTANCE_LEVELS);
  checkCorrectionInput(input);
  checkPositive({ cap });
  if (floor !== null && !(floor > 0 && floor <= cap)) {
    throw new AlgorithmError('INVALID_ARGUMENT', `floor is ${floor}, must be in (0, cap], cap ${cap}`);
  }
  const raw = level === 'token' ? tokenRatios(input) : sequenceRatios(input, level);
  const truncate = (weight: number): number =>
    floor === null ? Math.min(weight, cap) : weight < floor || weight > cap ? 0 : weight;
  const truncated = raw.map(truncate);
  const mean =
    truncated.length === 0 ? 0 : truncated.reduce((sum, weight) => sum + weight, 0) / truncated.length;
  const scale = normalize && mean > 0 ? 1 / mean : 1;
  const low = floor ?? 1 / cap;
  const share = (isCounted: (weight: number) => boolean): number =>
    raw.length === 0 ? 0 : raw.reduce((count, weight) => count + Number(isCounted(weight)), 0) / raw.length;
  const weights = spread(input, level, truncated, scale);
  checkResults({ weights });
  return {
    weights,
    effectiveSampleFraction: effectiveSampleFraction(raw),
    maxRawWeight: raw.reduce((most, weight) => Math.max(most, weight), 0),
    highFraction: share((weight) => weight > cap),
    lowFraction: share((weight) => weight < low),
    warnings: level === 'sequence' ? explosionWarnings(input) : [],
  };
}

/** ρ of every counted token, in order. */
function tokenRatios(input: CorrectionInput): Float64Array {
  const ratios: number[] = [];
  const numTokens = input.proximalLogprobs.length;
  for (let t = 0; t < numTokens; t++) {
    if (input.keep?.[t] !== 0) ratios.push(Math.exp(tokenLogRatio(input, t)));
  }
  return Float64Array.from(ratios);
}

/** Weight of every sequence that has counted tokens, in order. */
function sequenceRatios(input: CorrectionInput, level: 'sequence' | 'geometric'): Float64Array {
  const { sums, counts } = sequenceLogRatios(input);
  const ratios: number[] = [];
  sums.forEach((sum, sequence) => {
    if (counts[sequence] === 0) return;
    const log = level === 'sequence' ? sum : sum / counts[sequence];
    ratios.push(Math.exp(clamp(log, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)));
  });
  return Float64Array.from(ratios);
}

/** Puts the weights of counted tokens, or of sequences with such, back on the tokens. */
function spread(
  input: CorrectionInput,
  level: ImportanceLevel,
  weights: Float64Array,
  scale: number,
): Float32Array {
  const { offsets, keep = null } = input;
  const perToken = new Float32Array(input.proximalLogprobs.length);
  let next = 0;
  for (let sequence = 0; sequence + 1 < offsets.length; sequence++) {
    let counted = false;
    for (let t = offsets[sequence]; t < offsets[sequence + 1]; t++) {
      if (keep !== null && keep[t] === 0) continue;
      counted = true;
      perToken[t] = weights[next] * scale;
      if (level === 'token') next += 1;
    }
    if (level !== 'token' && counted) next += 1;
  }
  return perToken;
}

function explosionWarnings(input: CorrectionInput): string[] {
  const longest = sequenceLogRatios(input).counts.reduce((most, count) => Math.max(most, count), 0);
  if (longest < LONG_SEQUENCE) return [];
  return [
    `sequence importance weights multiply ${longest} ratios (1.1 a token is ${(1.1 ** longest).toExponential(0)}×): consider level 'geometric'`,
  ];
}
