import { useEpisodes } from '../api/episode-queries';
import controls from '../components/controls.module.css';
import { ErrorState, Loading } from '../components/notice';
import { Pager } from '../components/pager';
import { Select } from '../components/select';
import { usePaging } from '../components/use-paging';
import { FILTER_OPTIONS, useEpisodeFilter } from '../episodes/episode-filter';
import { SearchFields } from '../episodes/search-fields';
import { EpisodeTable } from '../episodes/episode-table';
import { shortId } from '../format/ids';
import { useRefetchMs } from '../live/use-live-run';
import page from '../components/page.module.css';
import { useRunOfPage } from '../runs/run-of-page';

const PAGE_SIZE = 50;

/** Filters that links set, and that only a button removes. */
const CHIPS = [
  { name: 'tag', labelOf: (tag: string) => `Tag ${tag}` },
  { name: 'update', labelOf: (update: string) => `In the batch of update ${update}` },
  { name: 'groupId', labelOf: (groupId: string) => `Group ${shortId(groupId)}` },
] as const;

/** The episodes of the run, filtered. */
export function EpisodesPage() {
  const { runId } = useRunOfPage();
  const { filter, setFilter } = useEpisodeFilter();
  const paging = usePaging(JSON.stringify([runId, filter]));
  const refetchMs = useRefetchMs();
  const episodes = useEpisodes(runId, filter, {
    cursor: paging.cursor,
    limit: PAGE_SIZE,
    // Only the first page changes under the reader.
    refetchMs: paging.pageNumber === 1 ? refetchMs : false,
  });
  const select = (name: keyof typeof FILTER_OPTIONS) => ({
    options: FILTER_OPTIONS[name],
    value: `${filter[name] ?? ''}`,
    onChange: (value: string) => {
      setFilter(name, value);
    },
  });

  return (
    <>
      <div className={page.filters}>
        <Select label="Split" {...select('split')} />
        <Select label="Outcome" {...select('success')} />
        <Select label="State" {...select('sealed')} />
        <Select label="End" {...select('endReason')} />
        <Select label="Stored" {...select('poorer')} />
        <Select label="Agent" {...select('agent')} />
        <Select label="Order" {...select('sort')} />
        <SearchFields filter={filter} setFilter={setFilter} />
        {CHIPS.map(({ name, labelOf }) => {
          const value = filter[name];
          if (value === undefined) return null;
          const remove = () => {
            setFilter(name, '');
          };
          return <FilterChip key={name} label={labelOf(`${value}`)} onRemove={remove} />;
        })}
      </div>
      {episodes.isPending && <Loading label="Loading episodes" rows={12} />}
      {episodes.isError && !episodes.data && (
        <ErrorState error={episodes.error} onRetry={() => void episodes.refetch()} />
      )}
      {episodes.data && (
        <>
          <EpisodeTable episodes={episodes.data.items} isStale={episodes.isPlaceholderData} />
          <Pager
            paging={paging}
            nextCursor={episodes.data.nextCursor}
            numItems={episodes.data.items.length}
          />
        </>
      )}
    </>
  );
}

function FilterChip({ label, onRemove }: { readonly label: string; readonly onRemove: () => void }) {
  return (
    <button type="button" className={controls.button} onClick={onRemove} title="Remove this filter">
      {label} ×
    </button>
  );
}
