import { useEpisodes, useEpisodesByIds } from '../api/episode-queries';
import { useSearch } from '../as-of/shown-moment';
import controls from '../components/controls.module.css';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { SearchField } from '../components/search-field';
import { shortId } from '../format/ids';
import { SideBySide } from '../side-by-side/side-by-side';
import page from '../components/page.module.css';
import { useRunOfPage } from '../runs/run-of-page';

/** More columns than anybody reads. */
const MOST_EPISODES = 64;

/** The members of a group, or any episodes of the run, side by side: `?group=`, or `?episode=` for each. */
export function SideBySidePage() {
  const { runId } = useRunOfPage();
  const [search] = useSearch();
  const group = search.get('group');
  return group === null ? (
    <ChosenEpisodes runId={runId} chosen={[...new Set(search.getAll('episode'))].slice(0, MOST_EPISODES)} />
  ) : (
    <Group runId={runId} groupId={group} />
  );
}

function Group({ runId, groupId }: { readonly runId: string; readonly groupId: string }) {
  const members = useEpisodes(runId, { groupId }, { cursor: null, limit: MOST_EPISODES, refetchMs: false });
  if (members.isPending) return <Loading label="Loading the group" />;
  if (!members.data) return <ErrorState error={members.error} onRetry={() => void members.refetch()} />;
  const { items, nextCursor } = members.data;
  const ordered = items.toSorted((a, b) => a.groupMember - b.groupMember);
  return (
    <div className={page.stack}>
      <h2>
        Group <span className="mono">{shortId(groupId)}</span>
      </h2>
      {nextCursor !== null && <p className={page.subtle}>The newest {MOST_EPISODES} of its members.</p>}
      <Columns runId={runId} episodeIds={ordered.map(({ episodeId }) => episodeId)} />
    </div>
  );
}

interface ChosenEpisodesProps {
  readonly runId: string;
  /** Ids, or parts of them. */
  readonly chosen: readonly string[];
}

function ChosenEpisodes({ runId, chosen }: ChosenEpisodesProps) {
  const [, setSearch] = useSearch();
  const choose = (ids: readonly string[]): void => {
    setSearch(new URLSearchParams(ids.map((id) => ['episode', id])), { replace: true });
  };
  return (
    <div className={page.stack}>
      <h2>Episodes side by side</h2>
      <div className={page.filters}>
        <SearchField
          key={chosen.length}
          label="Add an episode by its id"
          type="search"
          value=""
          onCommit={(id) => {
            if (id.trim() !== '') choose([...chosen, id.trim()]);
          }}
        />
        {chosen.map((id) => (
          <button
            key={id}
            type="button"
            className={controls.button}
            title="Take this episode out"
            onClick={() => {
              choose(chosen.filter((other) => other !== id));
            }}
          >
            {shortId(id)} ×
          </button>
        ))}
      </div>
      <Columns runId={runId} episodeIds={chosen} />
    </div>
  );
}

interface ColumnsProps {
  readonly runId: string;
  readonly episodeIds: readonly string[];
}

function Columns({ runId, episodeIds }: ColumnsProps) {
  const { items: episodes, error, isPending, refetch } = useEpisodesByIds(runId, episodeIds);
  if (episodeIds.length === 0)
    return <EmptyState title="No episodes">Add one by the end of its id, as lists show it.</EmptyState>;
  const isCut = episodes.some(({ nextStep }) => nextStep !== null);
  return (
    <>
      {error && <ErrorState error={error} onRetry={refetch} />}
      {isPending && <Loading label="Loading the episodes" />}
      {episodes.length > 0 && <SideBySide episodes={episodes} />}
      {isCut && (
        <p className={page.subtle}>Of long episodes the first steps; each has all on its own page.</p>
      )}
    </>
  );
}
