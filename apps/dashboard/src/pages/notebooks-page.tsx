import { useCreateNotebook, useNotebooks } from '../api/notebook-queries';
import type { NotebookListItem } from '../api-types/schema';
import { useOpenPage, useShownMoment } from '../as-of/shown-moment';
import controls from '../components/controls.module.css';
import { DataTable } from '../components/data-table';
import { Link } from '../components/link';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import type { TableColumn } from '../components/table-model';
import table from '../components/table.module.css';
import { useTitle } from '../components/use-title';
import { formatCount } from '../format/numbers';
import { formatMoment } from '../format/times';
import { FIRST_QUERY } from '../sql/examples';
import page from '../components/page.module.css';

const COLUMNS: readonly TableColumn<NotebookListItem>[] = [
  {
    label: 'Notebook',
    cell: ({ notebookId, title }) => (
      <Link className={table.link} to={notebookId}>
        {title}
      </Link>
    ),
  },
  { label: 'Cells', isNumeric: true, cell: ({ numCells }) => formatCount(numCells) },
  { label: 'Revision', isNumeric: true, cell: ({ revision }) => formatCount(revision) },
  { label: 'Written by', isMuted: true, cell: ({ source }) => source },
  { label: 'Saved', isMuted: true, cell: ({ savedAt }) => formatMoment(savedAt) },
];

/** All notebooks, last changed first. */
export function NotebooksPage() {
  useTitle('Notebooks');
  const notebooks = useNotebooks();
  const create = useCreateNotebook();
  const isOfNow = useShownMoment() === null;
  const open = useOpenPage();
  const add = (): void => {
    const cells = [{ kind: 'sql' as const, text: FIRST_QUERY, view: 'chart' as const }];
    create.mutate(
      { title: 'New notebook', cells },
      {
        onSuccess: ({ notebookId }) => {
          open(`/sql/notebooks/${notebookId}`);
        },
      },
    );
  };
  return (
    <>
      <div className={page.head}>
        <h1>Notebooks</h1>
        <p className={page.subtle}>SQL and text that everybody who may read this server sees</p>
        <span className={page.grow} />
        {isOfNow && (
          <button type="button" className={controls.primary} disabled={create.isPending} onClick={add}>
            New notebook
          </button>
        )}
      </div>
      {create.isError && <ErrorState error={create.error} />}
      {notebooks.isPending && <Loading label="Loading notebooks" />}
      {notebooks.isError && !notebooks.data && (
        <ErrorState error={notebooks.error} onRetry={() => void notebooks.refetch()} />
      )}
      {notebooks.data && <NotebookTable notebooks={notebooks.data.pages.flatMap(({ items }) => items)} />}
      {notebooks.hasNextPage && (
        <p className={page.more}>
          <button
            type="button"
            className={controls.button}
            disabled={notebooks.isFetchingNextPage}
            onClick={() => void notebooks.fetchNextPage()}
          >
            Load older notebooks
          </button>
        </p>
      )}
    </>
  );
}

function NotebookTable({ notebooks }: { readonly notebooks: readonly NotebookListItem[] }) {
  if (notebooks.length === 0)
    return (
      <EmptyState title="No notebooks yet">
        A notebook holds queries with their charts, and text between them. It is kept in the store.
      </EmptyState>
    );
  return (
    <DataTable label="Notebooks" columns={COLUMNS} rows={notebooks} keyOf={({ notebookId }) => notebookId} />
  );
}
