import { useRuns } from '../api/queries';
import { useTrainingQueue } from '../api/queue-queries';
import controls from '../components/controls.module.css';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { SearchField } from '../components/search-field';
import { Select } from '../components/select';
import { useTitle } from '../components/use-title';
import { QueueCard } from '../queue/run-queue';
import { StartRun } from '../queue/start-run';
import { leavesOut, RUN_FILTER_OPTIONS, sortOf, useRunFilter } from '../runs/run-filter';
import { RunTable } from '../runs/run-table';
import page from './page.module.css';

/** All runs, newest first unless the address says otherwise. */
export function RunsPage() {
  useTitle('Runs');
  const { filter, setFilter, setSort } = useRunFilter();
  const runs = useRuns(filter);
  const { data: queue } = useTrainingQueue();
  const items = runs.data?.pages.flatMap((one) => one.items) ?? [];
  const select = (name: 'status' | 'kind') => ({
    options: RUN_FILTER_OPTIONS[name],
    value: filter[name] ?? '',
    onChange: (value: string) => {
      setFilter(name, value);
    },
  });
  const field = (name: 'search' | 'tag') => ({
    value: filter[name] ?? '',
    onCommit: (value: string) => {
      setFilter(name, value.trim());
    },
  });

  return (
    <>
      <div className={page.head}>
        <h1>Runs</h1>
        <span className={page.grow} />
        {queue?.isAvailable === true && <StartRun />}
      </div>
      {queue && <QueueCard queue={queue} />}
      <div className={page.filters}>
        <SearchField label="Search" type="search" {...field('search')} />
        <Select label="Status" {...select('status')} />
        <Select label="Kind" {...select('kind')} />
        <SearchField label="Tag" type="search" {...field('tag')} />
      </div>
      {runs.isPending && <Loading label="Loading runs" />}
      {runs.isError && !runs.data && <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />}
      {runs.data && items.length === 0 && <NoRuns isFiltered={leavesOut(filter)} />}
      {items.length > 0 && (
        <RunTable
          runs={items}
          sort={sortOf(filter)}
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
      here.
    </EmptyState>
  );
}
