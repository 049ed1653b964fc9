/**
 * A uniform number in (0, 1) from a seed and a counter: no state, so it doesn't matter in which order, or beside which others, tokens are sampled. 23
 * bits, exact in float32. Both arguments may be any safe integers.
 */
export function uniformAt(seed: number, counter: number): number {
  let hash = mix(low(seed) ^ 0x9e3779b9);
  hash = mix(hash ^ high(seed));
  hash = mix((hash + Math.imul(low(counter), 0x85ebca6b)) | 0);
  hash = mix(hash ^ high(counter));
  return ((hash >>> 9) + 0.5) / 2 ** 23;
}

function low(value: number): number {
  return value >>> 0;
}

function high(value: number): number {
  return Math.floor(value / 2 ** 32) >>> 0;
}

/** A bijection of 32-bit integers with good avalanche (the finalizer "lowbias32" of C. Wellons' hash prospector). */
function mix(value: number): number {
  let x = value >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}
