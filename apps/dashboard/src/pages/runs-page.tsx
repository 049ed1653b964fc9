import { Link } from 'react-router';
import { useRuns } from '../api/queries';
import { useTrainingQueue } from '../api/queue-queries';
import type { RunListItem } from '../api/schema';
import { Sparkline } from '../charts/sparkline';
import { StatusBadge } from '../components/badge';
import controls from '../components/controls.module.css';
import { DataTable, type TableColumn } from '../components/data-table';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import table from '../components/table.module.css';
import { useNow } from '../components/use-now';
import { useTitle } from '../components/use-title';
import { formatCount, formatPercent } from '../format/numbers';
import { runDurationMs } from '../format/run-state';
import { formatAgo, formatDuration, formatMoment } from '../format/times';
import { QueueCard } from '../queue/run-queue';
import { StartRun } from '../queue/start-run';
import page from './page.module.css';

/** All runs, newest first. */
export function RunsPage() {
  useTitle('Runs');
  const runs = useRuns();
  const { data: queue } = useTrainingQueue();

  return (
    <>
      <div className={page.head}>
        <h1>Runs</h1>
        <span className={page.grow} />
        {queue?.isAvailable === true && <StartRun />}
      </div>
      {queue && <QueueCard queue={queue} />}
      {runs.isPending && <Loading label="Loading runs" />}
      {runs.isError && !runs.data && <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />}
      {runs.data && <RunTable runs={runs.data.pages.flatMap(({ items }) => items)} />}
      {runs.hasNextPage && (
        <p className={page.more}>
          <button
            type="button"
            className={controls.button}
            disabled={runs.isFetchingNextPage}
            onClick={() => void runs.fetchNextPage()}
          >
            Load older runs
          </button>
        </p>
      )}
    </>
  );
}

function RunTable({ runs }: { readonly runs: readonly RunListItem[] }) {
  const nowMs = useNow(5_000);
  if (runs.length === 0) {
    return (
      <EmptyState title="No runs yet">
        Start one with <code>npm start</code> or <code>retrace train --recipe frozen-lake-ppo</code>; it
        appears here.
      </EmptyState>
    );
  }
  return <DataTable label="Runs" columns={columnsAt(nowMs)} rows={runs} keyOf={({ runId }) => runId} />;
}

function columnsAt(nowMs: number): readonly TableColumn<RunListItem>[] {
  return [
    {
      label: 'Run',
      cell: ({ runId, name }) => (
        <Link className={table.link} to={`/runs/${runId}`}>
          {name}
        </Link>
      ),
    },
    { label: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
    { label: 'Environment', cell: ({ environment }) => environment },
    {
      label: 'Success rate',
      cell: ({ successCurve, name }) => (
        <Sparkline values={successCurve} label={`Success rate of ${name} over its rounds`} />
      ),
    },
    { label: 'Rollout', isNumeric: true, cell: ({ latest }) => formatPercent(latest['rollout/success']) },
    {
      label: 'Validation',
      isNumeric: true,
      cell: ({ latest }) => formatPercent(latest['validation/success']),
    },
    { label: 'Policy version', isNumeric: true, cell: ({ policyVersion }) => formatCount(policyVersion) },
    {
      label: 'Started',
      isMuted: true,
      cell: ({ startedAt }) => <span title={formatMoment(startedAt)}>{formatAgo(startedAt, nowMs)}</span>,
    },
    { label: 'Duration', isMuted: true, cell: (run) => formatDuration(runDurationMs(run, nowMs)) },
    { label: 'Seed', isNumeric: true, cell: ({ seed }) => seed },
  ];
}
