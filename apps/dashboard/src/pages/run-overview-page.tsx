import { Suspense, useState } from 'react';
import { useShownMoment } from '../as-of/shown-moment';
import type { MetricSeries, RunDetail } from '../api-types/schema';
import type { ChartAxis } from '../charts/chart-axis';
import { hasMetrics, MetricChart } from '../charts/metric-chart';
import { DETAIL_CHARTS, LOSS_CHART, SUCCESS_CHART } from '../charts/run-charts';
import { lazyPart } from '../components/lazy-part';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { OnceNear } from '../components/once-near';
import { Segments } from '../components/segments';
import { Stat, StatRow } from '../components/stat';
import { useShownTime } from '../components/use-shown-time';
import { formatCompact, formatCount, formatNumber, formatPercent } from '../format/numbers';
import { hasEnded, runDurationMs } from '../format/run-state';
import { formatDuration } from '../format/times';
import { PinnedCharts } from '../metrics/pinned-charts';
import { useRunSeries } from '../metrics/use-run-series';
import { useOpenUpdate } from '../updates/use-open-update';
import { playsEpisodes } from '../runs/plays-episodes';
import { RunLineage } from '../runs/run-lineage';
import { RunNotes } from '../runs/run-annotations';
import { RecordedOverview } from '../runs/recorded-overview';
import { LimiterState } from '../sampling/limiter-state';
import { openedRun } from '../as-of/saved-run';
import { WhatWasLearned } from '../runs/what-was-learned';
import { FirstAndNewest } from '../validation/first-and-newest';
import { RunWarnings } from '../warnings/run-warnings';
import { useRunOfPage } from '../runs/run-of-page';
import page from '../components/page.module.css';
import styles from './run-overview-page.module.css';

const NowYours = lazyPart(async () => (await import('../agents/now-yours')).NowYours);
const Validations = lazyPart(async () => (await import('../validation/validations')).Validations);

const AXES = [
  { value: 'update', label: 'Updates' },
  { value: 'time', label: 'Time' },
] as const;
const FIRST_CHART_HEIGHT = 300;

/** The overview of a run of either kind. */
export function RunOverviewPage() {
  const run = useRunOfPage();
  const isOfNow = useShownMoment() === null;
  return (
    <div className={styles.page}>
      <RunNotes run={run} canChange={isOfNow} />
      {run.kind === 'trained' && openedRun() === null && <RunLineage run={run} />}
      {run.kind === 'recorded' ? <RecordedOverview run={run} /> : <TrainedOverview run={run} />}
    </div>
  );
}

/** Key figures and charts of a run, kept up to date while it trains. */
function TrainedOverview({ run }: { readonly run: RunDetail }) {
  const { metrics, seriesByName, pins, unpin } = useRunSeries(run);
  const [axis, setAxis] = useState<ChartAxis>('update');
  const onPickUpdate = useOpenUpdate();
  const chart = { seriesByName, axis, startMs: Date.parse(run.startedAt), onPickUpdate };
  const plays = playsEpisodes(run.recipe);
  const first = plays ? SUCCESS_CHART : LOSS_CHART;
  const others = DETAIL_CHARTS.filter(
    (definition) => definition !== first && hasMetrics(definition, seriesByName),
  );

  return (
    <>
      <KeyFigures run={run} seriesByName={seriesByName} plays={plays} />
      {!plays && <StoredEpisodesOnly />}
      <RunWarnings runId={run.runId} />
      <LimiterState runId={run.runId} />
      <FirstAndNewest run={run} />
      <Suspense>
        <NowYours run={run} />
      </Suspense>
      <WhatWasLearned run={run} />
      {metrics.isPending && <Loading label="Loading metrics" />}
      {metrics.isError && !metrics.data && (
        <ErrorState error={metrics.error} onRetry={() => void metrics.refetch()} />
      )}
      {metrics.data?.length === 0 && <NoMetrics run={run} />}
      {metrics.data && metrics.data.length > 0 && (
        <>
          <div className={styles.toolbar}>
            <p>Click a point to open its update; drag across a chart to zoom in, double-click to zoom out.</p>
            <Segments label="X-axis" value={axis} options={AXES} onChange={setAxis} />
          </div>
          <PinnedCharts {...chart} names={pins} onUnpin={unpin} />
          <MetricChart
            {...chart}
            definition={first}
            baselines={plays ? run.baselines : []}
            height={FIRST_CHART_HEIGHT}
          />
          <div className={styles.grid}>
            {others.map((definition) => (
              <MetricChart key={definition.title} {...chart} definition={definition} />
            ))}
          </div>
        </>
      )}
      {/* The charts have their heights by then, so that its place is below them. */}
      {!metrics.isPending && (
        <OnceNear>
          <Suspense>
            <Validations runId={run.runId} recipe={run.recipe} />
          </Suspense>
        </OnceNear>
      )}
    </>
  );
}

/** Says why there is no success rate, and how to get one. */
function StoredEpisodesOnly() {
  return (
    <p className={page.subtle}>
      This run trains on stored episodes and plays none, so it has no success rate. Where its environment is
      at hand, <code>retrace play --policy</code> measures the policy in it, and{' '}
      <code>evaluation.everyUpdates</code> of the recipe validates each run; <code>retrace evaluate</code>{' '}
      estimates the return from stored episodes.
    </p>
  );
}

/** Says what a run without any metrics is waiting for. */
function NoMetrics({ run }: { readonly run: RunDetail }) {
  if (hasEnded(run))
    return <EmptyState title="No metrics">This run ended before its first update.</EmptyState>;
  return run.policyVersion === null ? (
    <EmptyState title="Waiting for the trainer">
      The trainer publishes the first policy when its compute backend is ready. That takes seconds, or a few
      minutes on first use, when the backend is installed; the terminal shows the progress.
    </EmptyState>
  ) : (
    <EmptyState title="Waiting for the first episodes">
      Charts appear after the collector’s first round. The Episodes tab lists the episodes collected so far.
    </EmptyState>
  );
}

interface KeyFiguresProps {
  readonly run: RunDetail;
  readonly seriesByName: ReadonlyMap<string, MetricSeries>;
  /** Whether the run plays episodes. */
  readonly plays: boolean;
}

function KeyFigures({ run, seriesByName, plays }: KeyFiguresProps) {
  const nowMs = useShownTime(1_000);
  const newest = (name: string): number | null =>
    seriesByName.get(name)?.values.at(-1) ?? run.latest[name] ?? null;
  return (
    <StatRow>
      {plays ? (
        <>
          <Stat label="Rollout success">{formatPercent(newest('rollout/success'))}</Stat>
          <Stat label="Validation success" note="Greedy actions on held-out tasks">
            {formatPercent(newest('validation/success'))}
          </Stat>
        </>
      ) : (
        <>
          <Stat label="Loss">{formatNumber(newest('train/loss'))}</Stat>
          <Stat label="Effective sample" note="Of the raw probability ratios, as a fraction of the tokens">
            {formatPercent(newest('correction/effectiveSampleFraction'))}
          </Stat>
        </>
      )}
      <Stat label="Policy version">{formatCount(run.policyVersion)}</Stat>
      <Stat label="Updates">{formatCount(seriesByName.get('train/loss')?.steps.at(-1))}</Stat>
      {plays && <Stat label="Env steps/s">{formatCompact(newest('rollout/environmentStepsPerSecond'))}</Stat>}
      <Stat label="Training tokens/s">{formatCompact(newest('train/tokensPerSecond'))}</Stat>
      <Stat label="Entropy (nats)" note="Mean over action tokens">
        {formatNumber(newest('train/entropy'))}
      </Stat>
      <Stat label="Staleness" note="Largest number of policy versions behind, in the newest update">
        {formatCount(newest('train/stalenessMax'))}
      </Stat>
      <Stat label="Duration">{formatDuration(runDurationMs(run, nowMs))}</Stat>
    </StatRow>
  );
}
