import type { MetricSeries } from '../api-types/schema';

export interface MetricPoint {
  readonly source: MetricSeries['source'];
  readonly name: string;
  readonly step: number;
  readonly value: number;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
}

/**
 * Adds points from the live stream to fetched series, and starts series that were missing.
 *
 * A point replaces the one at the same step: the stream may repeat what was fetched. Late points are inserted in order.
 * The given series are not changed; a series without new points is returned itself.
 */
export function mergeMetricPoints(
  series: readonly MetricSeries[],
  points: readonly MetricPoint[],
): MetricSeries[] {
  const pointsBySeries = groupBySeries(points);
  const merged = series.map((one) => {
    const added = pointsBySeries.get(seriesKey(one));
    pointsBySeries.delete(seriesKey(one));
    return added ? addPoints(one, added) : one;
  });
  for (const added of pointsBySeries.values()) {
    const { name, source } = added[0];
    merged.push(addPoints({ name, source, steps: [], values: [], times: [] }, added));
  }
  return merged;
}

function groupBySeries(points: readonly MetricPoint[]): Map<string, MetricPoint[]> {
  const groups = new Map<string, MetricPoint[]>();
  for (const point of points) {
    const group = groups.get(seriesKey(point));
    if (group) group.push(point);
    else groups.set(seriesKey(point), [point]);
  }
  return groups;
}

function seriesKey(of: { readonly source: string; readonly name: string }): string {
  return `${of.source} ${of.name}`;
}

function addPoints(series: MetricSeries, points: readonly MetricPoint[]): MetricSeries {
  const steps = [...series.steps];
  const values = [...series.values];
  const times = [...series.times];
  for (const point of points) {
    const at = findPlace(point.step, steps);
    const replaced = steps[at] === point.step ? 1 : 0;
    steps.splice(at, replaced, point.step);
    values.splice(at, replaced, point.value);
    times.splice(at, replaced, point.time);
  }
  return { ...series, steps, values, times };
}

/** Index of the first element of `steps` that is not below `step`; searched from the end, where most new points go. */
function findPlace(step: number, steps: readonly number[]): number {
  let at = steps.length;
  while (at > 0 && steps[at - 1] >= step) at--;
  return at;
}
