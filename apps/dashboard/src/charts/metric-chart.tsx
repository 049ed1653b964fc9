import { useMemo } from 'react';
import type { MetricSeries, RunBaseline } from '../api/schema';
import { Chart } from './chart';
import { alignSeries, stackShares, type ChartAxis } from './chart-data';
import type { ChartDefinition } from './run-charts';

interface MetricChartProps {
  readonly definition: ChartDefinition;
  readonly seriesByName: ReadonlyMap<string, MetricSeries>;
  readonly axis: ChartAxis;
  readonly startMs: number;
  readonly baselines?: readonly RunBaseline[];
  readonly height?: number;
}

/** A chart of the metrics that a run has among those of the definition. */
export function MetricChart({ definition, seriesByName, axis, startMs, ...size }: MetricChartProps) {
  const { title, note, metrics, format, range, isStacked } = definition;
  const columns = useMemo(() => {
    const series = shownMetrics(metrics, seriesByName).map(({ name }) => seriesByName.get(name));
    const aligned = alignSeries(series, axis, startMs);
    return isStacked ? stackShares(aligned) : aligned;
  }, [metrics, seriesByName, axis, startMs, isStacked]);

  return (
    <Chart
      title={title}
      note={note}
      labels={shownMetrics(metrics, seriesByName).map(({ label }) => label)}
      columns={columns}
      axis={axis}
      format={format}
      range={range}
      isStacked={isStacked}
      {...size}
    />
  );
}

/** Leaves out metrics that the run does not have (no test split yet, no critic), unless that is all of them. */
function shownMetrics(
  metrics: ChartDefinition['metrics'],
  seriesByName: ReadonlyMap<string, MetricSeries>,
): ChartDefinition['metrics'] {
  const present = metrics.filter(({ name }) => seriesByName.has(name));
  return present.length > 0 ? present : metrics;
}
