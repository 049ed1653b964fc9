import { AlgorithmError } from '../errors.js';

export interface BootstrapOptions {
  readonly numResamples: number;
  /** Confidence level in (0, 1), e.g. 0.95. */
  readonly level: number;
  readonly seed: number;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * Percentile bootstrap (Efron 1979): the statistic on samples of `size` indices drawn with replacement, and the central
 * `level` of its values. The index array is reused from sample to sample. Equal seeds give equal intervals.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for fewer than 2 resamples or a level outside (0, 1)
 */
export function bootstrapInterval(
  size: number,
  statistic: (sample: Int32Array) => number,
  { numResamples, level, seed }: BootstrapOptions,
): Interval {
  if (!Number.isInteger(numResamples) || numResamples < 2) {
    throw new AlgorithmError('INVALID_ARGUMENT', `numResamples is ${numResamples}, must be an integer ≥ 2`);
  }
  if (!(level > 0 && level < 1)) {
    throw new AlgorithmError('INVALID_ARGUMENT', `level is ${level}, must be in (0, 1)`);
  }
  const random = uniformInts(seed);
  const sample = new Int32Array(size);
  const values = new Float64Array(numResamples);
  for (let resample = 0; resample < numResamples; resample++) {
    for (let i = 0; i < size; i++) sample[i] = random(size);
    values[resample] = statistic(sample);
  }
  values.sort();
  const tail = (1 - level) / 2;
  return { low: quantile(values, tail), high: quantile(values, 1 - tail) };
}

/** Quantile of sorted values, interpolated linearly. */
function quantile(sorted: Float64Array, fraction: number): number {
  const position = fraction * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

/** Integers in [0, bound) by sfc32 (Doty-Humphrey, PractRand), seeded with one number. */
export function uniformInts(seed: number): (bound: number) => number {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed >>> 0;
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let i = 0; i < 12; i++) next();
  return (bound) => Math.floor((next() / 2 ** 32) * bound);
}
