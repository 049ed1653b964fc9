import { useMemo, type ReactNode } from 'react';
import type { MetricSeries, RunBaseline } from '../api-types/schema';
import { Chart } from './chart';
import { placeSeries, type ChartAxis } from './chart-axis';
import { alignSeries, nearestStep, stackShares } from './chart-data';
import type { ChartDefinition } from './run-charts';

export interface MetricChartProps {
  readonly definition: ChartDefinition;
  readonly seriesByName: SeriesByName;
  readonly axis: ChartAxis;
  readonly startMs: number;
  readonly baselines?: readonly RunBaseline[];
  readonly height?: number;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  /** Called with the update whose point was clicked. */
  readonly onPickUpdate?: (updateNumber: number) => void;
}

/** A chart of the metrics that a run has among those of the definition. */
export function MetricChart({
  definition,
  seriesByName,
  axis,
  startMs,
  onPickUpdate,
  ...size
}: MetricChartProps) {
  const { title, note, format = 'number', range, isStacked } = definition;
  const metrics = useMemo(() => shownMetrics(definition, seriesByName), [definition, seriesByName]);
  const series = useMemo(
    () =>
      metrics.map(({ name }) => {
        const one = seriesByName.get(name);
        return one && placeSeries(one, axis, { startMs });
      }),
    [metrics, seriesByName, axis, startMs],
  );
  const columns = useMemo(() => {
    const aligned = alignSeries(series);
    return isStacked ? stackShares(aligned) : aligned;
  }, [series, isStacked]);

  return (
    <Chart
      title={title}
      note={note}
      labels={metrics.map(({ label }) => label)}
      columns={columns}
      axis={axis}
      format={format}
      range={range}
      isStacked={isStacked}
      onPick={
        onPickUpdate &&
        ((x) => {
          const step = nearestStep(series, x);
          if (step !== null) onPickUpdate(step);
        })
      }
      {...size}
    />
  );
}

type SeriesByName = ReadonlyMap<string, MetricSeries>;

/** True when the run has at least one of the metrics that the chart shows. */
export function hasMetrics({ metrics }: ChartDefinition, seriesByName: SeriesByName): boolean {
  return metrics.some(({ name }) => seriesByName.has(name));
}

/** Leaves out metrics that the run does not have (no test split yet, no critic), unless that is all of them. */
function shownMetrics(definition: ChartDefinition, seriesByName: SeriesByName): ChartDefinition['metrics'] {
  const { metrics } = definition;
  return hasMetrics(definition, seriesByName)
    ? metrics.filter(({ name }) => seriesByName.has(name))
    : metrics;
}
