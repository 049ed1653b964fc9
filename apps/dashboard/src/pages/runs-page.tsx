import { Link } from 'react-router';
import { useRuns } from '../api/queries';
import type { RunSummary } from '../api/types';
import { Sparkline } from '../charts/sparkline';
import { StatusBadge } from '../components/badge';
import controls from '../components/controls.module.css';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import table from '../components/table.module.css';
import { useNow } from '../components/use-now';
import { useTitle } from '../components/use-title';
import { formatCount, formatPercent } from '../format/numbers';
import { formatAgo, formatDuration, formatMoment } from '../format/times';
import page from './page.module.css';

export function RunsPage() {
  useTitle('Runs');
  const runs = useRuns();
  const now = useNow(5_000);

  return (
    <>
      <div className={page.head}>
        <h1>Runs</h1>
      </div>
      {runs.isPending && <Loading label="Loading runs" />}
      {runs.isError && !runs.data && <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />}
      {runs.data && <RunTable runs={runs.data.pages.flatMap(({ items }) => items)} now={now} />}
      {runs.hasNextPage && (
        <p className={page.head} style={{ marginTop: 12 }}>
          <button
            type="button"
            className={controls.button}
            disabled={runs.isFetchingNextPage}
            onClick={() => void runs.fetchNextPage()}
          >
            Older runs
          </button>
        </p>
      )}
    </>
  );
}

function RunTable({ runs, now }: { readonly runs: readonly RunSummary[]; readonly now: number }) {
  if (runs.length === 0) {
    return (
      <EmptyState title="No runs yet">
        A run appears here as soon as it starts: <code>npm start</code>, or{' '}
        <code>retrace train --recipe frozen-lake-ppo</code>.
      </EmptyState>
    );
  }
  return (
    <div className={table.frame}>
      <table className={table.table}>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Status</th>
            <th scope="col">Environment</th>
            <th scope="col">Success</th>
            <th scope="col" className={table.number}>
              Rollout
            </th>
            <th scope="col" className={table.number}>
              Validation
            </th>
            <th scope="col" className={table.number}>
              Policy version
            </th>
            <th scope="col">Started</th>
            <th scope="col">Duration</th>
            <th scope="col" className={table.number}>
              Seed
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.runId}>
              <td>
                <Link className={table.link} to={`/runs/${run.runId}`}>
                  {run.name}
                </Link>
              </td>
              <td>
                <StatusBadge status={run.status} />
              </td>
              <td>{run.environment}</td>
              <td>
                <Sparkline values={run.successCurve} label={`Success rate of ${run.name} over its rounds`} />
              </td>
              <td className={table.number}>{formatPercent(run.latest['rollout/success'])}</td>
              <td className={table.number}>{formatPercent(run.latest['validation/success'])}</td>
              <td className={table.number}>{formatCount(run.policyVersion)}</td>
              <td className={table.muted} title={formatMoment(run.startedAt)}>
                {formatAgo(run.startedAt, now)}
              </td>
              <td className={table.muted}>{formatDuration(durationMs(run, now))}</td>
              <td className={table.number}>{run.seed}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Until it ended, else until its last event; a running run lasts until now. */
export function durationMs(run: RunSummary, now: number): number {
  const start = Date.parse(run.startedAt);
  if (run.status === 'running') return now - start;
  return Date.parse(run.endedAt ?? run.lastActivityAt ?? run.startedAt) - start;
}
