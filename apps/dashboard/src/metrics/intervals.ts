/** A figure with its 95 % interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Probability below the upper end of a two-sided 95 % interval. */
const UPPER = 0.975;

/**
 * The mean of rates of independent seeds with Student's 95 % interval, mean ± t(n − 1) · s / √n, as far as it lies in [0, 1]. Of one rate, and of rates
 * that are all equal, which say nothing about how seeds differ, the interval is unknown: NaN.
 *
 * @param rates at least one
 */
export function meanRate(rates: readonly number[]): Estimate {
  const n = rates.length;
  const value = rates.reduce((sum, rate) => sum + rate, 0) / n;
  if (rates.every((rate) => rate === rates[0])) return { value, low: Number.NaN, high: Number.NaN };
  const squares = rates.reduce((sum, rate) => sum + (rate - value) ** 2, 0);
  const margin = studentQuantile(n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { value, low: Math.max(0, value - margin), high: Math.min(1, value + margin) };
}

/**
 * The difference of two independent figures, second − first, with an interval that is recovered from theirs (Zou and Donner 2008, equation 5; with
 * Wilson's intervals it is Newcombe's 1998 method 10).
 */
export function estimateDifference(first: Estimate, second: Estimate): Estimate {
  const value = second.value - first.value;
  return {
    value,
    low: value - Math.hypot(second.value - second.low, first.high - first.value),
    high: value + Math.hypot(second.high - second.value, first.value - first.low),
  };
}

/**
 * The 0.975 quantile of Student's t distribution: exact for 1 and 2 degrees of freedom, else Hill's expansion (1970, algorithm 396 of the
 * Communications of the ACM), to 5 digits and more.
 *
 * @param freedom degrees of freedom, ≥ 1
 */
export function studentQuantile(freedom: number): number {
  const p = 2 * (1 - UPPER);
  if (freedom === 1) return Math.tan((Math.PI / 2) * (1 - p));
  if (freedom === 2) return Math.sqrt(2 / (p * (2 - p)) - 2);
  const a = 1 / (freedom - 0.5);
  const b = 48 / a ** 2;
  let c = ((20_700 * a) / b - 98) * a - 16;
  c = c * a + 96.36;
  const d = ((94.5 / (b + c) - 3) / b + 1) * Math.sqrt((a * Math.PI) / 2) * freedom;
  let y = (d * p) ** (2 / freedom);
  if (y > 0.05 + a) {
    const z = NORMAL_LOWER;
    y = z ** 2;
    if (freedom < 5) c += 0.3 * (freedom - 4.5) * (z + 0.6);
    c += (((0.05 * d * z - 5) * z - 7) * z - 2) * z + b;
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * z;
    y = Math.expm1(a * y ** 2);
  } else {
    y =
      ((1 / (((freedom + 6) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2) * 3) + 0.5 / (freedom + 4)) *
        y -
        1) *
        ((freedom + 1) / (freedom + 2)) +
      1 / y;
  }
  return Math.sqrt(freedom * y);
}

/** The 0.025 quantile of the normal distribution. */
const NORMAL_LOWER = -1.959963984540054;
