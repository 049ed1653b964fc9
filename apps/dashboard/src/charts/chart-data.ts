import type { MetricSeries } from '../api-types/schema';
import type { PlacedSeries } from './chart-axis';

/** One x-axis and the values of each series over it: `[xs, ys₀, ys₁, …]`; null where a series has no value. */
export type ChartColumns = [number[], ...(number | null)[][]];

/** Puts series that have different places over one ascending x-axis; an undefined series gives an empty column. */
export function alignSeries(series: readonly (PlacedSeries | undefined)[]): ChartColumns {
  const xs = [...new Set(series.flatMap((one) => one?.xs ?? []))].sort((a, b) => a - b);
  const rowOf = new Map(xs.map((x, row) => [x, row]));
  const columns = series.map((one) => {
    const column = new Array<number | null>(xs.length).fill(null);
    one?.xs.forEach((x, i) => {
      column[rowOf.get(x) ?? 0] = one.values[i] ?? null;
    });
    return column;
  });
  return [xs, ...columns];
}

/**
 * Counts a collector's series in updates. A collector counts rounds, which differ from updates after imitation and with stale data;
 * each round goes to the last update that had been applied by then, and to 0 before the first. Other series are returned as they are.
 *
 * @param updates any series of the trainer, in ascending order
 */
export function countedInUpdates(series: MetricSeries, updates: MetricSeries | undefined): MetricSeries {
  if (series.source !== 'collector' || !updates || updates.times.length === 0) return series;
  let applied = 0;
  const steps = series.times.map((time) => {
    while (applied < updates.times.length && updates.times[applied] <= time) applied++;
    return applied === 0 ? 0 : updates.steps[applied - 1];
  });
  return { ...series, steps };
}

/** The update of the point that is nearest to `x` among those of series that count updates; null without points, and where it is no whole number. */
export function nearestStep(series: readonly (PlacedSeries | undefined)[], x: number): number | null {
  let nearest: number | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const one of series) {
    one?.xs.forEach((position, i) => {
      const distance = Math.abs(position - x);
      if (distance >= least) return;
      least = distance;
      nearest = one.steps[i];
    });
  }
  return Number.isInteger(nearest) ? nearest : null;
}

/**
 * Turns amounts into stacked shares of their sum in each row: column i becomes (y₀ + … + yᵢ) / (y₀ + … + yₙ), so the last one is 1.
 * A missing amount counts as 0; a row whose sum is 0 stays empty.
 */
export function stackShares([xs, ...columns]: ChartColumns): ChartColumns {
  const stacked = columns.map(() => new Array<number | null>(xs.length).fill(null));
  for (let row = 0; row < xs.length; row++) {
    const total = columns.reduce((sum, column) => sum + (column[row] ?? 0), 0);
    if (total <= 0) continue;
    let below = 0;
    columns.forEach((column, c) => {
      below += (column[row] ?? 0) / total;
      stacked[c][row] = below;
    });
  }
  return [xs, ...stacked];
}

/**
 * Smooths each column by an exponential moving average whose weights add up to 1 from the first value on (bias-corrected as in Kingma and Ba, "Adam",
 * 2015, section 3). Rows without a value stay empty.
 *
 * @param weight of what came before, 0 ≤ weight < 1; 0 changes nothing
 */
export function smoothColumns([xs, ...columns]: ChartColumns, weight: number): ChartColumns {
  if (weight === 0) return [xs, ...columns];
  return [xs, ...columns.map((column) => smoothed(column, weight))];
}

function smoothed(column: readonly (number | null)[], weight: number): (number | null)[] {
  let sum = 0;
  let numValues = 0;
  return column.map((value) => {
    if (value === null) return null;
    sum = weight * sum + (1 - weight) * value;
    numValues += 1;
    return sum / (1 - weight ** numValues);
  });
}

/**
 * Leaves out the values that a logarithmic axis has no place for: those that are not above 0. Where only the lower end of a band is not, it becomes the
 * least value that is drawn.
 *
 * @param numLines columns before those of the ends of bands, which come in pairs, the lower first
 */
export function positiveColumns([xs, ...columns]: ChartColumns, numLines = columns.length): ChartColumns {
  const positive = columns.map((column) =>
    column.map((value) => (value !== null && value > 0 ? value : null)),
  );
  let least = Number.POSITIVE_INFINITY;
  for (const column of positive) for (const value of column) least = Math.min(least, value ?? least);
  for (let low = numLines; low < columns.length; low += 2) {
    const high = positive[low + 1];
    positive[low] = positive[low].map((value, row) => value ?? (high[row] === null ? null : least));
  }
  return [xs, ...positive];
}

/** The last value of a column that is not null; null when there is none. */
export function lastValue(column: readonly (number | null)[] | undefined): number | null {
  return column?.findLast((value) => value !== null) ?? null;
}

/**
 * The value of a column at a row, or the last one before it where the row is between two values, as it is where lines have points at different places.
 * Null before the first value and after the last one.
 */
export function valueAtRow(column: readonly (number | null)[], row: number): number | null {
  const value = column[row] ?? null;
  if (value !== null || !column.slice(row).some((later) => later !== null)) return value;
  return lastValue(column.slice(0, row));
}
