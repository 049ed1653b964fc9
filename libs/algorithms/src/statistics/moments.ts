import type { NumericArray } from '../layout/check.js';

/** Mean and sample (n − 1) variance, in two passes of doubles. Empty: mean 0, variance 0; one value: variance 0. */
export function moments(values: NumericArray): { mean: number; variance: number } {
  const numValues = values.length;
  if (numValues === 0) return { mean: 0, variance: 0 };
  let sum = 0;
  for (let i = 0; i < numValues; i++) sum += values[i];
  const mean = sum / numValues;
  let squares = 0;
  for (let i = 0; i < numValues; i++) squares += (values[i] - mean) ** 2;
  return { mean, variance: numValues > 1 ? squares / (numValues - 1) : 0 };
}
