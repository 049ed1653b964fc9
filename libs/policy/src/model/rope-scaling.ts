import { isPositive, requireConfig } from '../require-config.js';

/**
 * How rotary frequencies are stretched, under the names that transformers gives them:
 * `linear` divides them all; `dynamic` does not change contexts up to the original length; `llama3` divides the slow
 * ones (Llama 3.1); `yarn` divides the slow ones and scales the factors (arXiv:2309.00071).
 */
export type RopeScaling =
  | { readonly type: 'linear'; readonly factor: number }
  | { readonly type: 'dynamic'; readonly factor: number; readonly originalMaxPositions: number }
  | {
      readonly type: 'llama3';
      readonly factor: number;
      readonly lowFrequencyFactor: number;
      readonly highFrequencyFactor: number;
      readonly originalMaxPositions: number;
    }
  | {
      readonly type: 'yarn';
      readonly factor: number;
      readonly originalMaxPositions: number;
      /** Factor on cosine and sine; by default 0.1·ln(factor) + 1. */
      readonly attentionFactor: number;
      /** Turns within the original length above which a frequency does not change. */
      readonly betaFast: number;
      /** Turns within the original length below which a frequency is divided by the factor. */
      readonly betaSlow: number;
      /** Whether the two bounds are rounded outward to whole pairs. */
      readonly truncate: boolean;
    };

export interface RotaryFrequencies {
  /** [headDim/2] radians a position, for each pair. */
  readonly frequencies: Float64Array;
  /** Factor on cosine and sine. */
  readonly scale: number;
}

export interface RotaryShape {
  readonly headDim: number;
  readonly ropeTheta: number;
  readonly ropeScaling?: RopeScaling;
}

/** Computes θ^(−2i/headDim) for each pair i, stretched by the scaling. */
export function rotaryFrequencies({ headDim, ropeTheta, ropeScaling }: RotaryShape): RotaryFrequencies {
  const frequencies = Float64Array.from({ length: headDim / 2 }, (_, i) => ropeTheta ** ((-2 * i) / headDim));
  if (ropeScaling === undefined || ropeScaling.type === 'dynamic') return { frequencies, scale: 1 };
  const { factor } = ropeScaling;
  if (ropeScaling.type === 'linear') return { frequencies: frequencies.map((f) => f / factor), scale: 1 };
  if (ropeScaling.type === 'llama3') {
    return { frequencies: frequencies.map((f) => llama3Frequency(f, ropeScaling)), scale: 1 };
  }
  const share = yarnShares(ropeScaling, headDim, ropeTheta);
  return {
    frequencies: frequencies.map((f, i) => f * (share(i) / factor + 1 - share(i))),
    scale: ropeScaling.attentionFactor,
  };
}

/** @throws PolicyError `INVALID_CONFIG` with field, value and rule */
export function validateRopeScaling(scaling: RopeScaling, maxPositions: number): void {
  for (const [field, value] of Object.entries(scaling)) {
    const holds = typeof value !== 'number' || isPositive(value);
    requireConfig(holds, `TransformerConfig.ropeScaling.${field}`, value, 'must be a positive number');
  }
  if (scaling.type !== 'dynamic') return;
  // Beyond the original length its frequencies depend on the length of the context, so cached keys would be wrong.
  const rule = `must be at most the original ${scaling.originalMaxPositions} with rope scaling dynamic`;
  requireConfig(
    maxPositions <= scaling.originalMaxPositions,
    'TransformerConfig.maxPositions',
    maxPositions,
    rule,
  );
}

function llama3Frequency(frequency: number, scaling: Extract<RopeScaling, { type: 'llama3' }>): number {
  const { factor, lowFrequencyFactor, highFrequencyFactor, originalMaxPositions } = scaling;
  const numTurns = (originalMaxPositions * frequency) / (2 * Math.PI);
  if (numTurns > highFrequencyFactor) return frequency;
  if (numTurns < lowFrequencyFactor) return frequency / factor;
  const smooth = (numTurns - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
  return frequency * ((1 - smooth) / factor + smooth);
}

/** The share of pair i that is divided by the factor: 0 for fast pairs, 1 for slow ones, a ramp between. */
function yarnShares(
  { originalMaxPositions, betaFast, betaSlow, truncate }: Extract<RopeScaling, { type: 'yarn' }>,
  headDim: number,
  ropeTheta: number,
): (pair: number) => number {
  const pairOf = (numTurns: number) =>
    (headDim * Math.log(originalMaxPositions / (numTurns * 2 * Math.PI))) / (2 * Math.log(ropeTheta));
  const [first, last] = [pairOf(betaFast), pairOf(betaSlow)];
  const low = Math.max(truncate ? Math.floor(first) : first, 0);
  const high = Math.min(truncate ? Math.ceil(last) : last, headDim - 1);
  const width = low === high ? 0.001 : high - low;
  return (pair) => Math.min(1, Math.max(0, (pair - low) / width));
}
