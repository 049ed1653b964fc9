import { useMemo, useState } from 'react';
import { useMetrics } from '../api/queries';
import type { Baseline, MetricSeries, RunDetail } from '../api/types';
import { Chart } from '../charts/chart';
import { alignSeries, countedInUpdates, stackShares, type ChartAxis } from '../charts/chart-data';
import { CHARTED_METRICS, DETAIL_CHARTS, SUCCESS_CHART, type ChartDefinition } from '../charts/run-charts';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { Segments } from '../components/segments';
import { Stat, StatRow } from '../components/stat';
import { useNow } from '../components/use-now';
import { formatCompact, formatCount, formatNumber, formatPercent } from '../format/numbers';
import { hasEnded } from '../format/run-state';
import { formatDuration } from '../format/times';
import { useRefetchMs } from '../live/use-live-run';
import { useRunOfPage } from './run-layout';
import { durationMs } from './runs-page';
import styles from './run-overview-page.module.css';

const AXES = [
  { value: 'update', label: 'Updates' },
  { value: 'time', label: 'Time' },
] as const;

export function RunOverviewPage() {
  const run = useRunOfPage();
  const metrics = useMetrics(run.runId, CHARTED_METRICS, { refetchMs: useRefetchMs() });
  const [axis, setAxis] = useState<ChartAxis>('update');
  const series = useMemo(() => {
    const updates = metrics.data?.find(({ name }) => name === 'train/loss');
    return new Map(metrics.data?.map((one) => [one.name, countedInUpdates(one, updates)]));
  }, [metrics.data]);
  const chart = { series, axis, startMs: Date.parse(run.startedAt) };

  return (
    <div className={styles.page}>
      <Summary run={run} series={series} />
      {metrics.isPending && <Loading label="Loading metrics" />}
      {metrics.isError && !metrics.data && (
        <ErrorState error={metrics.error} onRetry={() => void metrics.refetch()} />
      )}
      {metrics.data?.length === 0 && <NothingYet run={run} />}
      {metrics.data && metrics.data.length > 0 && (
        <>
          <div className={styles.toolbar}>
            <p>Drag across a chart to zoom in, double-click to zoom out.</p>
            <Segments label="Horizontal axis" value={axis} options={AXES} onChange={setAxis} />
          </div>
          <MetricChart {...chart} definition={SUCCESS_CHART} baselines={run.baselines} height={300} />
          <div className={styles.grid}>
            {shownCharts(run, series).map((definition) => (
              <MetricChart key={definition.title} {...chart} definition={definition} />
            ))}
          </div>
        </>
      )}
    </div>
  );
}

interface MetricChartProps {
  readonly definition: ChartDefinition;
  readonly series: ReadonlyMap<string, MetricSeries>;
  readonly axis: ChartAxis;
  readonly startMs: number;
  readonly baselines?: readonly Baseline[];
  readonly height?: number;
}

function MetricChart({ definition, series, axis, startMs, baselines, height }: MetricChartProps) {
  const { title, note, metrics, format, range, stackedShares } = definition;
  const present = presentMetrics(metrics, series);
  const columns = useMemo(() => {
    const shown = presentMetrics(metrics, series).map(({ name }) => series.get(name));
    const aligned = alignSeries(shown, axis, startMs);
    return stackedShares ? stackShares(aligned) : aligned;
  }, [metrics, series, axis, startMs, stackedShares]);

  return (
    <Chart
      title={title}
      note={note}
      labels={present.map(({ label }) => label)}
      columns={columns}
      axis={axis}
      format={format}
      range={range}
      stacked={stackedShares}
      baselines={baselines}
      height={height}
    />
  );
}

/** Says what a run without any figure waits for. */
function NothingYet({ run }: { readonly run: RunDetail }) {
  if (hasEnded(run))
    return <EmptyState title="No metrics">This run ended before its first update.</EmptyState>;
  return run.policyVersion === null ? (
    <EmptyState title="Waiting for the trainer">
      It publishes the first policy once its compute backend is ready: seconds, or some minutes on first use,
      when the backend is installed (the terminal shows how far that is).
    </EmptyState>
  ) : (
    <EmptyState title="Waiting for the first episodes">
      Charts appear with the collector’s first round; the episodes tab shows what has arrived.
    </EmptyState>
  );
}

/** Once there are updates, a chart without any of its metrics (no critic, say) will stay empty: it gets no place. */
function shownCharts(run: RunDetail, series: ReadonlyMap<string, MetricSeries>): readonly ChartDefinition[] {
  if (!series.has('train/loss') && !hasEnded(run)) return DETAIL_CHARTS;
  return DETAIL_CHARTS.filter(({ metrics }) => metrics.some(({ name }) => series.has(name)));
}

/** A metric that this run doesn't have (no test split yet, no critic) gets no place, unless all are missing. */
function presentMetrics(
  metrics: ChartDefinition['metrics'],
  series: ReadonlyMap<string, MetricSeries>,
): ChartDefinition['metrics'] {
  const present = metrics.filter(({ name }) => series.has(name));
  return present.length > 0 ? present : metrics;
}

function Summary({
  run,
  series,
}: {
  readonly run: RunDetail;
  readonly series: ReadonlyMap<string, MetricSeries>;
}) {
  const now = useNow(1_000);
  const newest = (name: string): number | null => series.get(name)?.values.at(-1) ?? run.latest[name] ?? null;
  const updates = series.get('train/loss')?.steps.at(-1);
  return (
    <StatRow>
      <Stat label="Rollout success">{formatPercent(newest('rollout/success'))}</Stat>
      <Stat label="Validation success" title="Greedy, on held-out tasks">
        {formatPercent(newest('validation/success'))}
      </Stat>
      <Stat label="Policy version">{formatCount(run.policyVersion)}</Stat>
      <Stat label="Updates">{formatCount(updates)}</Stat>
      <Stat label="Env steps/s">{formatCompact(newest('rollout/environmentStepsPerSecond'))}</Stat>
      <Stat label="Trained tokens/s">{formatCompact(newest('train/tokensPerSecond'))}</Stat>
      <Stat label="Entropy" title="Nats per action token">
        {formatNumber(newest('train/entropy'))}
      </Stat>
      <Stat label="Staleness" title="Most versions behind, in the newest update">
        {formatCount(newest('train/stalenessMax'))}
      </Stat>
      <Stat label="Duration">{formatDuration(durationMs(run, now))}</Stat>
    </StatRow>
  );
}
