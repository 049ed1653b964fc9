import type { MetricSeries } from '../api/types';

export interface MetricPoint {
  readonly source: string;
  readonly name: string;
  readonly step: number;
  readonly value: number;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
}

/**
 * Adds points that arrived live to series that were fetched before.
 *
 * Points may arrive twice (the stream overlaps the fetch) or late: a point with a step that is there replaces it.
 * The given series are not changed; series without new points are returned as they are.
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
    const at = placeOf(point.step, steps);
    const replaced = steps[at] === point.step ? 1 : 0;
    steps.splice(at, replaced, point.step);
    values.splice(at, replaced, point.value);
    times.splice(at, replaced, point.time);
  }
  return { ...series, steps, values, times };
}

/** Index of the first step that is not below; found from the end, where new points belong. */
function placeOf(step: number, steps: readonly number[]): number {
  let at = steps.length;
  while (at > 0 && steps[at - 1] >= step) at--;
  return at;
}
