import type { RewardScorer } from '@retrace/rewards/scoring';

/** Names and values of metrics, in the order in which they are recorded. */
export type MetricEntries = readonly (readonly [name: string, value: number])[];

/** Leaves out values that were not measured, which are NaN. */
export function measured(metrics: MetricEntries): MetricEntries {
  return metrics.filter(([, value]) => !Number.isNaN(value));
}

/** Usage of judges since the trainer started. */
export function judgeMetrics(usage: RewardScorer['judgeUsage']): MetricEntries {
  return Object.entries(usage).map(([name, value]) => [`judge/${name}`, value] as const);
}
