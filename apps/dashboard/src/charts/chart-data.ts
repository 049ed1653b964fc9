import type { MetricSeries } from '../api/types';

/** What the horizontal axis counts: updates (rounds, policy versions) or seconds since the run started. */
export type ChartAxis = 'update' | 'time';

/** A column per series over one common x: `[xs, ys₀, ys₁, …]`; null where a series has no value. */
export type ChartColumns = [number[], ...(number | null)[][]];

/**
 * Puts series that were measured at different steps over one sorted x-axis.
 *
 * @param axis `time` gives seconds since `startMs`
 */
export function alignSeries(
  series: readonly (MetricSeries | undefined)[],
  axis: ChartAxis,
  startMs: number,
): ChartColumns {
  const positions = series.map((one) => (one ? positionsOf(one, axis, startMs) : []));
  const xs = [...new Set(positions.flat())].sort((a, b) => a - b);
  const rowOf = new Map(xs.map((x, row) => [x, row]));
  const columns = series.map((one, s) => {
    const column = new Array<number | null>(xs.length).fill(null);
    positions[s].forEach((x, i) => {
      column[rowOf.get(x) ?? 0] = one?.values[i] ?? null;
    });
    return column;
  });
  return [xs, ...columns];
}

/**
 * A collector counts its rounds. Where these are not the updates (after imitation, or with stale data), its series goes to the
 * updates that had been applied by then.
 *
 * @param updates any series of the trainer, oldest value first
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

function positionsOf(series: MetricSeries, axis: ChartAxis, startMs: number): readonly number[] {
  return axis === 'update' ? series.steps : series.times.map((time) => (time - startMs) / 1000);
}

/**
 * Turns columns of amounts into shares of their sum, each stacked on the ones before: the last column is 1 throughout.
 * A row where every amount is missing or the sum is 0 stays empty.
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

/** The newest value of a column. */
export function lastValue(column: readonly (number | null)[] | undefined): number | null {
  return column?.findLast((value) => value !== null) ?? null;
}
