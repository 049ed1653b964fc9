import { useShownMoment } from '../as-of/shown-moment';
import { useRuns } from '../api/queries';
import { useTrainingQueue } from '../api/queue-queries';
import controls from '../components/controls.module.css';
import { Link } from '../components/link';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { useTitle } from '../components/use-title';
import { QueueCard } from '../queue/run-queue';
import { StartRun } from '../queue/start-run';
import { leavesOut, readSort, useRunFilter } from '../runs/run-filter';
import { RunFilters } from '../runs/run-filters';
import { RunTable } from '../runs/run-table';
import page from '../components/page.module.css';

/** All runs, newest first unless the address says otherwise. */
export function RunsPage() {
  useTitle('Runs');
  const isOfNow = useShownMoment() === null;
  const { filter, setFilter, setSort } = useRunFilter();
  const runs = useRuns(filter);
  const { data: queue } = useTrainingQueue();
  const items = runs.data?.pages.flatMap((one) => one.items) ?? [];
  return (
    <>
      <div className={page.head}>
        <h1>Runs</h1>
        <span className={page.grow} />
        {isOfNow && queue?.isAvailable === true && <StartRun />}
      </div>
      {isOfNow && queue && <QueueCard queue={queue} />}
      <RunFilters filter={filter} setFilter={setFilter} />
      {runs.isPending && <Loading label="Loading runs" />}
      {runs.isError && !runs.data && <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />}
      {runs.data && items.length === 0 && <NoRuns isFiltered={leavesOut(filter)} />}
      {items.length > 0 && (
        <RunTable
          runs={items}
          sort={readSort(filter)}
          onSort={setSort}
          onTag={(tag) => {
            setFilter('tag', tag);
          }}
          isStale={runs.isPlaceholderData}
        />
      )}
      {runs.hasNextPage && (
        <p className={page.more}>
          <button
            type="button"
            className={controls.button}
            disabled={runs.isFetchingNextPage}
            onClick={() => void runs.fetchNextPage()}
          >
            Load more runs
          </button>
        </p>
      )}
    </>
  );
}

function NoRuns({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No such runs">No run matches these filters.</EmptyState>;
  return (
    <EmptyState title="No runs yet">
      Start one with <code>npm start</code> or <code>retrace train --recipe frozen-lake-ppo</code>; it appears
      here. Archived runs are <Link to="/?archived=only">on a list of their own</Link>.
    </EmptyState>
  );
}
