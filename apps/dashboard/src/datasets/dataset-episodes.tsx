import { useDatasetEpisodes } from '../api/dataset-queries';
import type { DatasetEpisode } from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { IdLink } from '../components/id-link';
import { Link } from '../components/link';
import { ErrorState, Loading } from '../components/notice';
import { Pager } from '../components/pager';
import type { TableColumn } from '../components/table-model';
import { usePaging } from '../components/use-paging';
import { shortId } from '../format/ids';

const PAGE_SIZE = 20;

const COLUMNS: readonly TableColumn<DatasetEpisode>[] = [
  {
    label: 'Episode',
    cell: ({ runId, episodeId }) => <IdLink id={episodeId} to={`/runs/${runId}/episodes/${episodeId}`} />,
  },
  {
    label: 'Run',
    isMuted: true,
    cell: ({ runId }) => (
      <Link className="mono" to={`/runs/${runId}`} title={runId}>
        {shortId(runId)}
      </Link>
    ),
  },
];

/** The episodes that rows of a data set are made of, a page at a time. */
export function DatasetEpisodes({ name }: { readonly name: string }) {
  const paging = usePaging(name);
  const episodes = useDatasetEpisodes(name, { cursor: paging.cursor, limit: PAGE_SIZE });
  if (episodes.isPending) return <Loading label="Loading episodes" rows={6} />;
  if (!episodes.data) return <ErrorState error={episodes.error} onRetry={() => void episodes.refetch()} />;
  const { items, nextCursor } = episodes.data;
  return (
    <div>
      <DataTable
        label="Episodes"
        columns={COLUMNS}
        rows={items}
        keyOf={({ episodeId }) => episodeId}
        isStale={episodes.isPlaceholderData}
      />
      <Pager paging={paging} nextCursor={nextCursor} numItems={items.length} />
    </div>
  );
}
