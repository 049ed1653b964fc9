import { usePlays } from '../api/queries';
import type { PlayListItem } from '../api-types/schema';
import controls from '../components/controls.module.css';
import { DataTable } from '../components/data-table';
import { Link } from '../components/link';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import type { TableColumn } from '../components/table-model';
import table from '../components/table.module.css';
import { useTitle } from '../components/use-title';
import { formatMoment } from '../format/times';
import page from '../components/page.module.css';

const COLUMNS: readonly TableColumn<PlayListItem>[] = [
  {
    label: 'Policies',
    cell: ({ playId, policies }) => (
      <Link className={table.link} to={playId}>
        {policies.join(', ')}
      </Link>
    ),
  },
  { label: 'Environments', cell: ({ environments }) => environments.join(', ') },
  { label: 'Started', isMuted: true, cell: ({ startedAt }) => formatMoment(startedAt) },
];

/** All plays, newest first. */
export function PlaysPage() {
  useTitle('Evaluations');
  const plays = usePlays();
  return (
    <>
      <div className={page.head}>
        <h1>Evaluations</h1>
      </div>
      {plays.isPending && <Loading label="Loading evaluations" />}
      {plays.isError && !plays.data && (
        <ErrorState error={plays.error} onRetry={() => void plays.refetch()} />
      )}
      {plays.data && <PlayTable plays={plays.data.pages.flatMap(({ items }) => items)} />}
      {plays.hasNextPage && (
        <p className={page.more}>
          <button
            type="button"
            className={controls.button}
            disabled={plays.isFetchingNextPage}
            onClick={() => void plays.fetchNextPage()}
          >
            Load older evaluations
          </button>
        </p>
      )}
    </>
  );
}

function PlayTable({ plays }: { readonly plays: readonly PlayListItem[] }) {
  if (plays.length === 0) {
    return (
      <EmptyState title="No evaluations yet">
        Play the same tasks with several policies:{' '}
        <code>retrace play --environment frozen-lake --policy latest --policy random</code>
      </EmptyState>
    );
  }
  return <DataTable label="Evaluations" columns={COLUMNS} rows={plays} keyOf={({ playId }) => playId} />;
}
