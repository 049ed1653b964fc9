import { useMemo, useState } from 'react';
import { useComparedRuns } from '../api/compared-runs';
import type { RunDetail } from '../api-types/schema';
import type { ChartAxis } from '../charts/chart-axis';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import page from '../components/page.module.css';
import { openedRun } from '../as-of/saved-run';
import { ComparedResults } from './compared-results';
import { type ExploredLine, exploredLines } from './explored-runs';
import type { ExplorerView } from './explorer-view';
import { ExplorerToolbar } from './explorer-toolbar';
import { GroupOfCharts } from './group-of-charts';
import { LayoutBar } from './layout-bar';
import { findGroup, isFound, metricGroups, PINNED } from './metric-groups';
import { useExplorer } from './use-explorer';
import type { UserMetric } from './user-metric';
import { UserMetricForm } from './user-metric-form';
import { useUserMetrics } from './use-user-metrics';

/** Groups of which the charts are shown at first, after the pinned ones. */
const NUM_OPEN = 3;
const NO_METRICS: readonly UserMetric[] = [];

/** Every metric that the run recorded, found by its name, beside those of other runs. */
export function MetricExplorer({ run }: { readonly run: RunDetail }) {
  const explorer = useExplorer();
  const { view, isNamed, problem, saveMetric, removeMetric } = explorer;
  const { search, isMean, axis, pins, metrics } = view;
  const { items, error, isPending, refetch } = useComparedRuns([run.runId, ...view.others]);
  const folds = useFolds(search);
  // A saved page has no database to ask. The groups of metrics by SQL are open at first.
  const { runs, shown, allow } = useUserMetrics(
    openedRun() === null ? metrics : NO_METRICS,
    items,
    (name) => isFound(name, search) && folds.isOpen(findGroup(name, pins), true),
  );
  const [edited, setEdited] = useState<UserMetric | 'new' | null>(null);
  const { movedName, settle, change, pin } = useMovedChart(explorer);
  const lines = useMemo(() => exploredLines(runs, { isMean, axis }), [runs, isMean, axis]);
  const recorded = runs.flatMap(({ series }) => series.map(({ name }) => name));
  const names = runs.length === 0 ? [] : [...recorded, ...shown.keys()];
  const groups = metricGroups(names, search, pins);
  const numOpen = groups[0]?.kind === PINNED ? NUM_OPEN + 1 : NUM_OPEN;
  const others = runs.map((one) => one.run).filter(({ runId }) => runId !== run.runId);
  return (
    <div className={page.stack}>
      <ExplorerToolbar run={run} others={others} view={view} onChange={change} />
      <LayoutBar view={view} isNamed={isNamed} onChange={change} onAddMetric={() => setEdited('new')} />
      {problem !== null && <p role="alert">{problem}</p>}
      {edited !== null && (
        <EditedMetric
          {...{ edited, metrics }}
          onSave={(metric) => {
            saveMetric(metric, edited === 'new' ? null : edited);
            allow(metric.query);
          }}
          onClosed={() => setEdited(null)}
        />
      )}
      {error && <ErrorState error={error} onRetry={refetch} />}
      {isPending && <Loading label="Loading metrics" />}
      <WithoutAxis lines={lines} axis={axis} />
      {runs.length > 1 && <ComparedResults runs={runs.map((one) => one.run)} isMean={isMean} />}
      {!isPending && groups.length === 0 && <NothingFound numMetrics={new Set(names).size} search={search} />}
      {groups.map((group, i) => (
        <GroupOfCharts
          key={group.kind}
          {...{ group, lines, view, movedName }}
          userMetrics={shown}
          onPin={pin}
          onAllow={allow}
          onEdit={setEdited}
          onRemove={removeMetric}
          isOpen={folds.isOpen(group.kind, search !== '' || i < numOpen)}
          onToggle={(isOpen) => {
            settle();
            folds.set(group.kind, isOpen);
          }}
        />
      ))}
    </div>
  );
}

/** The chart that a pin moved to another group just now, until a person changes anything else: charts that come back then take the focus from nothing. */
function useMovedChart({ change, togglePin }: Pick<ReturnType<typeof useExplorer>, 'change' | 'togglePin'>) {
  const [movedName, setMovedName] = useState<string | null>(null);
  return {
    movedName,
    settle: () => setMovedName(null),
    change: (changed: Partial<ExplorerView>) => {
      setMovedName(null);
      change(changed);
    },
    pin: (name: string) => {
      togglePin(name);
      setMovedName(name);
    },
  };
}

/** Which groups a person opened or folded; with words to search for, others than without. */
function useFolds(search: string) {
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const keyOf = (kind: string) => `${kind} ${search === ''}`;
  return {
    isOpen: (kind: string, isOpenAtFirst: boolean) => folds.get(keyOf(kind)) ?? isOpenAtFirst,
    set: (kind: string, isOpen: boolean) => setFolds((before) => new Map([...before, [keyOf(kind), isOpen]])),
  };
}

interface EditedMetricProps {
  readonly edited: UserMetric | 'new';
  readonly metrics: readonly UserMetric[];
  readonly onSave: (metric: UserMetric) => void;
  readonly onClosed: () => void;
}

function EditedMetric({ edited, metrics, onSave, onClosed }: EditedMetricProps) {
  return (
    <UserMetricForm
      key={edited === 'new' ? '' : edited.name}
      edited={edited === 'new' ? null : edited}
      metrics={metrics}
      onSave={(metric) => {
        onSave(metric);
        onClosed();
      }}
      onCancel={onClosed}
    />
  );
}

/** Names the runs that have no points on the axis. */
function WithoutAxis({ lines, axis }: { readonly lines: readonly ExploredLine[]; readonly axis: ChartAxis }) {
  const runs = lines.flatMap((line) => line.runs).filter(({ hasAxis }) => !hasAxis);
  if (runs.length === 0) return null;
  const which = runs.map(({ label }) => label).join(', ');
  return (
    <p className={page.subtle}>
      Without points on this axis, since no {axis} are recorded: {which}.
    </p>
  );
}

function NothingFound({ numMetrics, search }: { readonly numMetrics: number; readonly search: string }) {
  if (numMetrics === 0)
    return <EmptyState title="No metrics">Metrics appear with the first round of episodes.</EmptyState>;
  return (
    <EmptyState title="No such metric">
      None of {numMetrics} metrics has “{search}” in its name.
    </EmptyState>
  );
}
