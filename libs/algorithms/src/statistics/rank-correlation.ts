import { AlgorithmError } from '../errors.js';
import { checkFinite } from '../layout/check.js';

export interface RankCorrelation {
  /** Pearson's correlation of the mid-ranks; NaN where one side is constant or there are fewer than two pairs. */
  readonly spearman: number;
  /** Kendall's τ-b; NaN in the same cases. */
  readonly kendall: number;
}

/**
 * Measures how far two scorings agree in order, including ties: Spearman's ρ on mid-ranks and Kendall's
 * τ-b = (C − D) / √((n₀ − n₁)(n₀ − n₂)), n₀ = n(n−1)/2, n₁ and n₂ the pairs tied in x and in y. In O(n log n): pairs out of
 * order are counted by merging (W. R. Knight, "A Computer Method for Calculating Kendall's Tau", JASA 61, 1966).
 *
 * @param x `[n]`, finite
 * @param y `[n]`, finite
 * @throws AlgorithmError `INVALID_ARGUMENT` for unequal lengths or a value that is not finite
 */
export function rankCorrelation(x: Float64Array, y: Float64Array): RankCorrelation {
  if (x.length !== y.length) {
    throw new AlgorithmError(
      'INVALID_ARGUMENT',
      `y has ${y.length} values, must have one for each of the ${x.length} of x`,
    );
  }
  checkFinite({ x, y });
  return { spearman: pearson(midRanks(x), midRanks(y)), kendall: kendallTauB(x, y) };
}

function sortedOrder(x: Float64Array, y?: Float64Array): Uint32Array {
  return Uint32Array.from(x.keys()).sort((a, b) => x[a] - x[b] || (y === undefined ? 0 : y[a] - y[b]));
}

/** Ranks from 1; equal values share the mean of theirs. */
function midRanks(values: Float64Array): Float64Array {
  const order = sortedOrder(values);
  const ranks = new Float64Array(values.length);
  for (let from = 0; from < order.length;) {
    let to = from + 1;
    while (to < order.length && values[order[to]] === values[order[from]]) to++;
    for (let i = from; i < to; i++) ranks[order[i]] = (from + 1 + to) / 2;
    from = to;
  }
  return ranks;
}

function pearson(a: Float64Array, b: Float64Array): number {
  const mean = (a.length + 1) / 2;
  let [covariance, varianceA, varianceB] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    covariance += (a[i] - mean) * (b[i] - mean);
    varianceA += (a[i] - mean) ** 2;
    varianceB += (b[i] - mean) ** 2;
  }
  return varianceA === 0 || varianceB === 0 ? Number.NaN : covariance / Math.sqrt(varianceA * varianceB);
}

function kendallTauB(x: Float64Array, y: Float64Array): number {
  const n = x.length;
  const order = sortedOrder(x, y);
  const sorted = Float64Array.from(order, (i) => y[i]);
  const pairs = (n * (n - 1)) / 2;
  const tiedX = tiedPairs(n, (i) => x[order[i]] === x[order[i - 1]]);
  const tiedBoth = tiedPairs(n, (i) => x[order[i]] === x[order[i - 1]] && sorted[i] === sorted[i - 1]);
  const discordant = countInversions(sorted);
  sorted.sort();
  const tiedY = tiedPairs(n, (i) => sorted[i] === sorted[i - 1]);
  const concordantMinusDiscordant = pairs - tiedX - tiedY + tiedBoth - 2 * discordant;
  const scale = Math.sqrt((pairs - tiedX) * (pairs - tiedY));
  return scale === 0 ? Number.NaN : concordantMinusDiscordant / scale;
}

function tiedPairs(n: number, equalsBefore: (i: number) => boolean): number {
  let pairs = 0;
  let run = 1;
  for (let i = 1; i <= n; i++) {
    if (i < n && equalsBefore(i)) run++;
    else {
      pairs += (run * (run - 1)) / 2;
      run = 1;
    }
  }
  return pairs;
}

/**
 * Pairs of values of which the first is the larger, in O(n log n) by merging.
 *
 * @param values `[n]`, finite
 * @throws AlgorithmError `INVALID_ARGUMENT` for a value that is not finite
 */
export function countInversions(values: Float64Array): number {
  checkFinite({ values });
  let from: Float64Array = values.slice();
  let to: Float64Array = new Float64Array(values.length);
  let swaps = 0;
  for (let width = 1; width < values.length; width *= 2) {
    for (let start = 0; start < values.length; start += 2 * width) {
      const middle = Math.min(start + width, values.length);
      const end = Math.min(start + 2 * width, values.length);
      let left = start;
      let right = middle;
      for (let k = start; k < end; k++) {
        if (left < middle && (right >= end || from[left] <= from[right])) to[k] = from[left++];
        else {
          to[k] = from[right++];
          swaps += middle - left;
        }
      }
    }
    [from, to] = [to, from];
  }
  return swaps;
}
