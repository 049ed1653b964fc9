import type { MetricPoint } from './merge-metrics';

/** Data of a `metrics` event of the live stream. */
export interface MetricsMessage {
  readonly source: string;
  readonly step: number;
  readonly names: readonly string[];
  /** null = not available. */
  readonly values: readonly (number | null)[];
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
}

/** Data of a `policy` event. */
export interface PolicyMessage {
  readonly policyVersion: number;
}

/** The values that are there, one point each. */
export function pointsOf(message: MetricsMessage): MetricPoint[] {
  const { source, step, time } = message;
  return message.names.flatMap((name, i) => {
    const value = message.values[i];
    return value === null ? [] : [{ source, name, step, value, time }];
  });
}
