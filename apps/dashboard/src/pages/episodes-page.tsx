import { Link, useSearchParams } from 'react-router';
import { useEpisodes, type EpisodeFilter } from '../api/queries';
import type { EpisodeSummary } from '../api/types';
import { OutcomeBadge } from '../components/badge';
import controls from '../components/controls.module.css';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { Pager } from '../components/pager';
import { Select } from '../components/select';
import table from '../components/table.module.css';
import { usePaging } from '../components/use-paging';
import { shortId } from '../format/ids';
import { formatCount, formatNumber } from '../format/numbers';
import { formatDuration, formatMoment } from '../format/times';
import { useRefetchMs } from '../live/use-live-run';
import page from './page.module.css';
import { useRunOfPage } from './run-layout';

const PAGE_SIZE = 50;

const SPLITS = [
  { value: '', label: 'any' },
  { value: 'train', label: 'train' },
  { value: 'validation', label: 'validation' },
  { value: 'test', label: 'test' },
];
const OUTCOMES = [
  { value: '', label: 'any' },
  { value: 'true', label: 'success' },
  { value: 'false', label: 'failure' },
];
const STATES = [
  { value: '', label: 'any' },
  { value: 'true', label: 'ended' },
  { value: 'false', label: 'in progress' },
];
const AGENTS = [
  { value: '', label: 'any' },
  { value: 'policy', label: 'policy' },
  { value: 'expert', label: 'expert' },
  { value: 'random', label: 'random' },
];
const SORTS = [
  { value: 'newest', label: 'newest first' },
  { value: 'oldest', label: 'oldest first' },
];

/** The filter lives in the address, so that a filtered list can be shared and gone back to. */
function useEpisodeFilter() {
  const [search, setSearch] = useSearchParams();
  const filter: EpisodeFilter = {
    split: search.get('split') ?? '',
    success: search.get('success') ?? '',
    sealed: search.get('sealed') ?? '',
    agent: search.get('agent') ?? '',
    groupId: search.get('groupId') ?? '',
    update: search.get('update') ?? '',
    sort: search.get('sort') ?? 'newest',
  };
  const setFilter = (name: keyof EpisodeFilter, value: string): void => {
    setSearch(
      (current) => {
        if (value === '') current.delete(name);
        else current.set(name, value);
        return current;
      },
      { replace: true },
    );
  };
  return { filter, setFilter };
}

export function EpisodesPage() {
  const { runId } = useRunOfPage();
  const { filter, setFilter } = useEpisodeFilter();
  const paging = usePaging(JSON.stringify([runId, filter]));
  const refetchMs = useRefetchMs();
  const episodes = useEpisodes(runId, filter, {
    cursor: paging.cursor,
    limit: PAGE_SIZE,
    // Later pages stand still while one reads them.
    refetchMs: paging.pageNumber === 1 ? refetchMs : false,
  });
  const select = (name: keyof EpisodeFilter) => ({
    value: filter[name],
    onChange: (value: string) => {
      setFilter(name, value);
    },
  });

  return (
    <>
      <div className={page.filters}>
        <Select label="Split" options={SPLITS} {...select('split')} />
        <Select label="Outcome" options={OUTCOMES} {...select('success')} />
        <Select label="State" options={STATES} {...select('sealed')} />
        <Select label="Agent" options={AGENTS} {...select('agent')} />
        <Select label="Order" options={SORTS} {...select('sort')} />
        {filter.update && (
          <FilterChip
            label={`in the batch of update ${filter.update}`}
            onRemove={() => {
              setFilter('update', '');
            }}
          />
        )}
        {filter.groupId && (
          <FilterChip
            label={`group ${shortId(filter.groupId)}`}
            onRemove={() => {
              setFilter('groupId', '');
            }}
          />
        )}
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

function EpisodeTable({
  episodes,
  isStale,
}: {
  readonly episodes: readonly EpisodeSummary[];
  readonly isStale: boolean;
}) {
  if (episodes.length === 0) {
    return (
      <EmptyState title="No episodes">
        None match these filters, or the run has not collected any yet.
      </EmptyState>
    );
  }
  return (
    <div className={`${table.frame} ${isStale ? table.busy : ''}`}>
      <table className={table.table}>
        <thead>
          <tr>
            <th scope="col">Episode</th>
            <th scope="col">Outcome</th>
            <th scope="col" className={table.number}>
              Return
            </th>
            <th scope="col" className={table.number}>
              Steps
            </th>
            <th scope="col" className={table.number}>
              Tokens
            </th>
            <th scope="col" className={table.number}>
              Policy
            </th>
            <th scope="col">Split</th>
            <th scope="col">Agent</th>
            <th scope="col">Group</th>
            <th scope="col">End</th>
            <th scope="col">Started</th>
            <th scope="col" className={table.number}>
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {episodes.map((episode) => (
            <EpisodeRow key={episode.episodeId} episode={episode} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function EpisodeRow({ episode }: { readonly episode: EpisodeSummary }) {
  return (
    <tr>
      <td>
        <Link className={`${table.link} mono`} to={episode.episodeId} title={episode.episodeId}>
          {shortId(episode.episodeId)}
        </Link>
      </td>
      <td>
        <OutcomeBadge {...episode} />
      </td>
      <td className={table.number}>{formatNumber(episode.return)}</td>
      <td className={table.number}>{formatCount(episode.numSteps)}</td>
      <td className={table.number}>{formatCount(episode.numTokens)}</td>
      <td className={table.number}>{formatVersions(episode)}</td>
      <td>{episode.split}</td>
      <td>{episode.agent}</td>
      <td className={`${table.muted} mono`}>
        <Link to={`?groupId=${episode.groupId}`} title={`Only group ${episode.groupId}`}>
          {shortId(episode.groupId)}·{episode.groupMember}
        </Link>
      </td>
      <td className={table.muted}>{episode.endReason ?? '–'}</td>
      <td className={table.muted}>{formatMoment(episode.startedAt)}</td>
      <td className={`${table.number} ${table.muted}`}>
        {formatDuration(episode.endedAt ? Date.parse(episode.endedAt) - Date.parse(episode.startedAt) : null)}
      </td>
    </tr>
  );
}

/** `12`, or `12–14` where the weights changed in mid-episode. */
export function formatVersions({ policyVersionMin: min, policyVersionMax: max }: EpisodeSummary): string {
  if (min === null || max === null) return '–';
  return min === max ? String(min) : `${min}–${max}`;
}
