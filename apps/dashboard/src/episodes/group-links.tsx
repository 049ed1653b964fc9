import type { ReactNode } from 'react';
import { useLocation } from 'react-router';
import { useEpisodes } from '../api/episode-queries';
import type { EpisodeListItem } from '../api-types/schema';
import { GroupLink } from '../components/group-link';
import { Link } from '../components/link';
import table from '../components/table.module.css';
import { formatCount } from '../format/numbers';
import { useRefetchMs } from '../live/use-live-run';
import page from '../components/page.module.css';
import { openedRun } from '../as-of/saved-run';
import { groupNeighbours } from './group-neighbours';

/** The newest ones of a larger group. */
const MOST_MEMBERS = 500;

interface GroupLinksProps {
  readonly runId: string;
  readonly episode: Pick<EpisodeListItem, 'episodeId' | 'groupId' | 'groupMember'>;
}

/** The group of an episode, with links to the members before and after it, which the keys `[` and `]` follow. */
export function GroupLinks({ runId, episode }: GroupLinksProps) {
  const { episodeId, groupId, groupMember } = episode;
  return (
    <span className={page.subtle}>
      Group <GroupLink groupId={groupId} />, {/* An episode that was recorded without a group is its own. */}
      {groupId === episodeId ? `member ${groupMember}` : <Neighbours runId={runId} episode={episode} />}
      {openedRun() === null && (
        <>
          {' '}
          (
          <Link className={table.link} to={`../side-by-side?group=${encodeURIComponent(groupId)}`}>
            side by side
          </Link>
          )
        </>
      )}
    </span>
  );
}

/** The place of an episode in its group, between links to the members beside it. */
function Neighbours({ runId, episode: { episodeId, groupId, groupMember } }: GroupLinksProps) {
  const refetchMs = useRefetchMs();
  const members = useEpisodes(runId, { groupId }, { cursor: null, limit: MOST_MEMBERS, refetchMs });
  const { items = [], nextCursor = null } = members.data ?? {};
  const { previous, next } = groupNeighbours(items, episodeId);
  return (
    <>
      {previous !== null && (
        <MemberLink rel="prev" episodeId={previous.episodeId} label="Previous member of the group">
          ←{' '}
        </MemberLink>
      )}
      member {groupMember}
      {next !== null && (
        <MemberLink rel="next" episodeId={next.episodeId} label="Next member of the group">
          {' '}
          →
        </MemberLink>
      )}
      {nextCursor !== null && ` of the newest ${formatCount(MOST_MEMBERS)} episodes`}
    </>
  );
}

interface MemberLinkProps {
  readonly rel: 'prev' | 'next';
  readonly episodeId: string;
  readonly label: string;
  readonly children: ReactNode;
}

/** Keeps what the address says of this page, such as by what tokens are colored. */
function MemberLink({ rel, episodeId, label, children }: MemberLinkProps) {
  const { search } = useLocation();
  return (
    <Link
      className={table.link}
      rel={rel}
      to={`../episodes/${episodeId}${search}`}
      aria-label={label}
      title={label}
    >
      {children}
    </Link>
  );
}
