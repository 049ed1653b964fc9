import { useDatasets } from '../api/dataset-queries';
import type { DatasetListItem } from '../api-types/schema';
import controls from '../components/controls.module.css';
import { DataTable } from '../components/data-table';
import { Link } from '../components/link';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import type { TableColumn } from '../components/table-model';
import table from '../components/table.module.css';
import { useTitle } from '../components/use-title';
import { formatCount } from '../format/numbers';
import { formatMoment } from '../format/times';
import page from '../components/page.module.css';

const COLUMNS: readonly TableColumn<DatasetListItem>[] = [
  {
    label: 'Data set',
    cell: ({ name }) => (
      <Link className={table.link} to={name}>
        {name}
      </Link>
    ),
  },
  { label: 'Format', cell: ({ format }) => format },
  { label: 'Files', cell: ({ fileFormat }) => (fileFormat === 'parquet' ? 'Parquet' : 'JSON lines') },
  { label: 'Rows', isNumeric: true, cell: ({ numRows }) => formatCount(numRows) },
  { label: 'Episodes', isNumeric: true, cell: ({ numEpisodes }) => formatCount(numEpisodes) },
  {
    label: 'Content hash',
    isMuted: true,
    cell: ({ contentHash }) => (
      <span className="mono" title={contentHash}>
        {contentHash.slice(0, 12)}
      </span>
    ),
  },
  { label: 'Created', isMuted: true, cell: ({ createdAt }) => formatMoment(createdAt) },
];

/** All data sets, newest first. */
export function DatasetsPage() {
  useTitle('Data sets');
  const datasets = useDatasets();
  return (
    <>
      <div className={page.head}>
        <h1>Data sets</h1>
      </div>
      {datasets.isPending && <Loading label="Loading data sets" />}
      {datasets.isError && !datasets.data && (
        <ErrorState error={datasets.error} onRetry={() => void datasets.refetch()} />
      )}
      {datasets.data && <DatasetTable datasets={datasets.data.pages.flatMap(({ items }) => items)} />}
      {datasets.hasNextPage && (
        <p className={page.more}>
          <button
            type="button"
            className={controls.button}
            disabled={datasets.isFetchingNextPage}
            onClick={() => void datasets.fetchNextPage()}
          >
            Load older data sets
          </button>
        </p>
      )}
    </>
  );
}

function DatasetTable({ datasets }: { readonly datasets: readonly DatasetListItem[] }) {
  if (datasets.length === 0) {
    return (
      <EmptyState title="No data sets yet">
        Make one of the episodes that a query chooses:{' '}
        <code>
          retrace dataset create solved --format sft --sql &quot;SELECT run_id, episode_id FROM episodes WHERE
          success&quot;
        </code>
      </EmptyState>
    );
  }
  return <DataTable label="Data sets" columns={COLUMNS} rows={datasets} keyOf={({ name }) => name} />;
}
