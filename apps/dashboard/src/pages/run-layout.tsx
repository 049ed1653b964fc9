import { Outlet, useParams } from 'react-router';
import { useShownMoment } from '../as-of/shown-moment';
import { isRefusal, useRun } from '../api/queries';
import { Badge, StatusBadge } from '../components/badge';
import { Link, NavLink } from '../components/link';
import { ErrorState, Loading } from '../components/notice';
import { useTitle } from '../components/use-title';
import { RedirectToWholeId } from '../components/whole-id';
import { shortId } from '../format/ids';
import { hasEnded } from '../format/run-state';
import type { LiveState } from '../live/live-stream';
import { LiveProvider, useLiveRun, useRefetchMs } from '../live/use-live-run';
import { ForkRun } from '../queue/start-run';
import { TrainingButton } from '../queue/training-button';
import { ArchiveButton, StarButton } from '../runs/run-annotations';
import { pagesOfRun } from '../runs/run-pages';
import { openedRun } from '../as-of/saved-run';
import styles from './run-layout.module.css';

/** Layout of the pages of a run: follows it live once it is found, and shows its name, status and tabs. */
export function RunLayout() {
  const { runId = '' } = useParams();
  const { data, error } = useRun(runId, { refetchMs: false });
  const isOfNow = useShownMoment() === null;
  const live = useLiveRun(data === undefined || isRefusal(error) || !isOfNow ? null : data.runId);
  return (
    <LiveProvider value={live}>
      <RunFrame runId={runId} live={live} key={runId} />
    </LiveProvider>
  );
}

function RunFrame({ runId, live }: { readonly runId: string; readonly live: LiveState }) {
  const run = useRun(runId, { refetchMs: useRefetchMs() });
  const isOfNow = useShownMoment() === null;
  useTitle(run.data?.name ?? 'Run');

  if (run.isPending) return <Loading label="Loading the run" rows={9} />;
  if (!run.data) return <ErrorState heading="h1" error={run.error} onRetry={() => void run.refetch()} />;
  if (run.data.runId !== runId) return <RedirectToWholeId part={runId} id={run.data.runId} />;
  const isSaved = openedRun() !== null;
  return (
    <>
      <header className={styles.head}>
        {!isSaved && (
          <p className={styles.crumbs}>
            <Link to="/">Runs</Link> <span aria-hidden>/</span>
          </p>
        )}
        <h1>{run.data.name}</h1>
        <StarButton run={run.data} />
        <StatusBadge status={run.data.status} isExplained />
        {run.data.archived && <Badge>Archived</Badge>}
        {run.data.environment !== '' && <Badge>{run.data.environment}</Badge>}
        <Badge title={`Run ${runId}`}>
          <span className="mono">{shortId(runId)}</span>
        </Badge>
        <span className={styles.grow} />
        {isOfNow && (
          <>
            <ArchiveButton run={run.data} />
            <ForkRun run={run.data} />
            <TrainingButton run={run.data} />
            <LiveBadge live={live} isError={run.isError} hasEnded={hasEnded(run.data)} />
          </>
        )}
      </header>
      <nav className={styles.tabs} aria-label="Run">
        {pagesOfRun(run.data, isSaved).map(({ label, path }) => (
          <NavLink key={label} to={path === '' ? '.' : path} end={path === ''}>
            {label}
          </NavLink>
        ))}
      </nav>
      <Outlet context={run.data} />
    </>
  );
}

interface LiveBadgeProps {
  readonly live: LiveState;
  readonly isError: boolean;
  readonly hasEnded: boolean;
}

function LiveBadge({ live, isError, hasEnded }: LiveBadgeProps) {
  if (isError) return <Badge tone="bad">Connection lost</Badge>;
  if (hasEnded) return null;
  if (live === 'live') return <Badge tone="good">Live</Badge>;
  return <Badge tone="warn">{live === 'polling' ? 'Polling' : 'Connecting'}</Badge>;
}
