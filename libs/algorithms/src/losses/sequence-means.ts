import type { PolicyLossInput } from './policy-loss.js';
import { LOG_RATIO_LIMIT, clamp } from './token-loss.js';

/*
 * Means over the tokens of each sequence. Tokens of weight 0 are left out; a sequence of only such tokens has the value 0.
 */

/** Mean (or sum) of `valueOf(t)` over the weighted tokens of each sequence, held in ±limit, spread over its tokens `[N]`. */
export function overSequences(
  { offsets, weights }: Pick<PolicyLossInput, 'offsets' | 'weights'>,
  reduction: 'mean' | 'sum',
  valueOf: (t: number) => number,
  limit = Infinity,
): Float64Array {
  const values = new Float64Array(weights.length);
  for (let sequence = 0; sequence + 1 < offsets.length; sequence++) {
    let sum = 0;
    let numTokens = 0;
    for (let t = offsets[sequence]; t < offsets[sequence + 1]; t++) {
      if (weights[t] === 0) continue;
      sum += valueOf(t);
      numTokens += 1;
    }
    const value = reduction === 'mean' ? sum / Math.max(1, numTokens) : sum;
    values.fill(clamp(value, -limit, limit), offsets[sequence], offsets[sequence + 1]);
  }
  return values;
}

/** Mean (or sum) of numerator − denominator over each sequence, held in ±20, spread over its tokens `[N]`. */
export function sequenceLogRatios(
  input: PolicyLossInput,
  numerator: Float32Array,
  denominator: Float32Array,
  reduction: 'mean' | 'sum',
): Float64Array {
  return overSequences(input, reduction, (t) => numerator[t] - denominator[t], LOG_RATIO_LIMIT);
}
