import { checkFinite, checkMask } from '../layout/check.js';
import type { NumericArray } from '../layout/check.js';

const VARIANCE_FLOOR = 1e-8;

/**
 * Masked z-score over the whole batch: (x − μ)/√(σ² + 1e-8), `[N]`, μ and σ² over the tokens whose mask is 1, σ²
 * Bessel-corrected. A mask of no token or of one gives 0 everywhere, no exception; masked tokens give 0.
 *
 * Whiten a batch once, before it is cut into micro-batches, since the statistics are those of the given values.
 */
export function whiten(values: NumericArray, mask: Uint8Array | null = null): Float32Array {
  checkFinite({ values });
  if (mask !== null) checkMask('mask', mask, values.length);
  const whitened = new Float32Array(values.length);
  let numKept = 0;
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    if (mask !== null && mask[i] === 0) continue;
    numKept += 1;
    sum += values[i];
  }
  if (numKept < 2) return whitened;
  const mean = sum / numKept;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    if (mask === null || mask[i] === 1) squares += (values[i] - mean) ** 2;
  }
  const scale = 1 / Math.sqrt(squares / (numKept - 1) + VARIANCE_FLOOR);
  for (let i = 0; i < values.length; i++) {
    if (mask === null || mask[i] === 1) whitened[i] = (values[i] - mean) * scale;
  }
  return whitened;
}
