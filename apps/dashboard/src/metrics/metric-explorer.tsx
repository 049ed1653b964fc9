import { useMemo, useState } from 'react';
import { useComparedRuns } from '../api/compared-runs';
import type { RunDetail } from '../api/schema';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import page from '../pages/page.module.css';
import { openedRun } from '../saved-page/saved-run';
import { ComparedResults } from './compared-results';
import { exploredLines } from './explored-runs';
import { ExplorerToolbar } from './explorer-toolbar';
import { GroupOfCharts } from './group-of-charts';
import { LayoutBar } from './layout-bar';
import { metricGroups, PINNED } from './metric-groups';
import { useExplorer } from './use-explorer';
import type { UserMetric } from './user-metric';
import { UserMetricForm } from './user-metric-form';
import { useUserMetrics } from './use-user-metrics';

/** Groups of which the charts are shown at first. */
const NUM_OPEN = 3;
const NO_METRICS: readonly UserMetric[] = [];

/** Every metric that the run recorded, found by its name, beside those of other runs. */
export function MetricExplorer({ run }: { readonly run: RunDetail }) {
  const { view, change, togglePin, saveMetric, removeMetric } = useExplorer();
  const { search, isMean, axis, pins, metrics } = view;
  const { items, error, isPending, refetch } = useComparedRuns([run.runId, ...view.others]);
  // A saved page has no database to ask.
  const { runs, shown, allow } = useUserMetrics(openedRun() === null ? metrics : NO_METRICS, items);
  const [edited, setEdited] = useState<UserMetric | 'new' | null>(null);
  const lines = useMemo(() => exploredLines(runs, { isMean, axis }), [runs, isMean, axis]);
  const recorded = runs.flatMap(({ series }) => series.map(({ name }) => name));
  const names = runs.length === 0 ? [] : [...recorded, ...shown.keys()];
  const groups = metricGroups(names, search, pins);
  const others = runs.map((one) => one.run).filter(({ runId }) => runId !== run.runId);
  return (
    <div className={page.stack}>
      <ExplorerToolbar run={run} others={others} view={view} onChange={change} />
      <LayoutBar view={view} onChange={change} onAddMetric={() => setEdited('new')} />
      {edited !== null && (
        <UserMetricForm
          key={edited === 'new' ? '' : edited.name}
          edited={edited === 'new' ? null : edited}
          onSave={(metric) => {
            saveMetric(metric, edited === 'new' ? null : edited);
            allow(metric.query);
            setEdited(null);
          }}
          onCancel={() => setEdited(null)}
        />
      )}
      {error && <ErrorState error={error} onRetry={refetch} />}
      {isPending && <Loading label="Loading metrics" />}
      {runs.length > 1 && <ComparedResults runs={runs.map((one) => one.run)} isMean={isMean} />}
      {!isPending && groups.length === 0 && <NothingFound numMetrics={new Set(names).size} search={search} />}
      {groups.map((group, i) => (
        <GroupOfCharts
          key={`${group.kind} ${search === ''}`}
          {...{ group, lines, view }}
          userMetrics={shown}
          onPin={togglePin}
          onAllow={allow}
          onEdit={setEdited}
          onRemove={removeMetric}
          isOpenAtFirst={search !== '' || group.kind === PINNED || i < NUM_OPEN}
        />
      ))}
    </div>
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
