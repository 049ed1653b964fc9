import type { LiveMetrics } from '../api-types/schema';
import type { MetricPoint } from './merge-metrics';

/** One point for each value of the message that is available. */
export function toMetricPoints({ source, step, time, names, values }: LiveMetrics): MetricPoint[] {
  return names.flatMap((name, i) => {
    const value = values[i];
    return value === null ? [] : [{ source, name, step, value, time }];
  });
}
