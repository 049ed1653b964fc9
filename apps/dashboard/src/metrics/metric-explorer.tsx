import { useMemo, useState } from 'react';
import { useComparedRuns, type ComparedRun } from '../api/compared-runs';
import { MAX_CHART_POINTS } from '../api/queries';
import type { MetricSeries, RunDetail } from '../api/schema';
import { isTrainedAxis, placeSeries, trainedAmounts, type ChartAxis } from '../charts/chart-axis';
import { countedInUpdates } from '../charts/chart-data';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import page from '../pages/page.module.css';
import { useOpenUpdate } from '../updates/use-open-update';
import { ComparedResults } from './compared-results';
import { ExploredChart, type ExploredLine, type ExploredRun } from './explored-chart';
import { ExplorerToolbar } from './explorer-toolbar';
import type { ExplorerView } from './explorer-view';
import { LayoutBar } from './layout-bar';
import styles from './metric-explorer.module.css';
import { metricGroups, PINNED, type MetricGroup } from './metric-groups';
import { groupSeeds, labelOf } from './seed-groups';
import { useExplorer } from './use-explorer';

/** Groups of which the charts are shown at first. */
const NUM_OPEN = 3;
/** Pixels of a chart, by the number of columns where it is chosen; wide charts are higher. */
const HEIGHTS: Readonly<Record<number, number>> = { 1: 320, 2: 230 };

/** Every metric that the run recorded, found by its name, beside those of other runs. */
export function MetricExplorer({ run }: { readonly run: RunDetail }) {
  const { view, change, togglePin } = useExplorer();
  const { isMean, axis } = view;
  const { items: runs, error, isPending, refetch } = useComparedRuns([run.runId, ...view.others]);
  const lines = useMemo(() => exploredLines(runs, { isMean, axis }), [runs, isMean, axis]);
  const names = runs.flatMap(({ series }) => series.map(({ name }) => name));
  const groups = metricGroups(names, view.search, view.pins);
  const numFound = groups.reduce((sum, group) => sum + group.names.length, 0);
  const others = runs.map((one) => one.run).filter(({ runId }) => runId !== run.runId);
  return (
    <div className={page.stack}>
      <ExplorerToolbar run={run} others={others} view={view} onChange={change} />
      <LayoutBar view={view} onChange={change} />
      {error && <ErrorState error={error} onRetry={refetch} />}
      {isPending && <Loading label="Loading metrics" />}
      {runs.length > 1 && <ComparedResults runs={runs.map((one) => one.run)} isMean={isMean} />}
      {!isPending && numFound === 0 && (
        <EmptyState title={names.length === 0 ? 'No metrics' : 'No such metric'}>
          {names.length === 0
            ? 'Metrics appear with the first round of episodes.'
            : `None of ${new Set(names).size} metrics has “${view.search}” in its name.`}
        </EmptyState>
      )}
      {groups.map((group, i) => (
        <GroupOfCharts
          key={`${group.kind} ${view.search === ''}`}
          group={group}
          lines={lines}
          view={view}
          onPin={togglePin}
          isOpenAtFirst={view.search !== '' || group.kind === PINNED || i < NUM_OPEN}
        />
      ))}
    </div>
  );
}

interface GroupOfChartsProps {
  readonly group: MetricGroup;
  readonly lines: readonly ExploredLine[];
  readonly view: ExplorerView;
  readonly onPin: (name: string) => void;
  readonly isOpenAtFirst: boolean;
}

function GroupOfCharts({ group, lines, view, onPin, isOpenAtFirst }: GroupOfChartsProps) {
  const { kind, names } = group;
  const [isOpen, setIsOpen] = useState(isOpenAtFirst);
  const { axis, smoothing, isLog, columns } = view;
  const onPickUpdate = useOpenUpdate();
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => {
        setIsOpen(currentTarget.open);
      }}
    >
      <summary className={styles.kind}>
        {kind} <span className={page.subtle}>{names.length}</span>
      </summary>
      {isOpen && (
        <div className={styles.grid} data-columns={columns}>
          {names.map((name) => (
            <ExploredChart
              key={name}
              name={name}
              lines={lines}
              {...{ axis, smoothing, isLog, onPin, onPickUpdate }}
              isPinned={kind === PINNED}
              height={HEIGHTS[columns]}
            />
          ))}
        </div>
      )}
    </details>
  );
}

function exploredLines(
  runs: readonly ComparedRun[],
  { isMean, axis }: Pick<ExplorerView, 'isMean' | 'axis'>,
): ExploredLine[] {
  const groups = isMean ? groupSeeds(runs, ({ run }) => run) : runs.map((one) => [one]);
  return groups.map((group) => ({
    label: labelOf(group.map(({ run }) => run)),
    runs: group.map((one) => exploredRun(one, axis)),
  }));
}

/** Counts steps in updates, and places points from the run's start, so that runs can be laid over each other. */
function exploredRun({ run, series }: ComparedRun, axis: ChartAxis): ExploredRun {
  const updates = series.find(({ name }) => name === 'train/loss');
  const startMs = Date.parse(run.startedAt);
  const trained = isTrainedAxis(axis) ? trainedAmounts(series, axis, MAX_CHART_POINTS) : undefined;
  const placed = (one: MetricSeries) =>
    placeSeries(countedInUpdates(one, updates), axis, { startMs, trained });
  return { label: labelOf([run]), series: new Map(series.map((one) => [one.name, placed(one)])) };
}
