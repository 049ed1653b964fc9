import type { ReactNode } from 'react';
import { useEpisodes } from '../api/episode-queries';
import type { EpisodeListItem } from '../api-types/schema';
import { IdLink } from '../components/id-link';
import { Link } from '../components/link';
import table from '../components/table.module.css';
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
export function GroupLinks({ runId, episode: { episodeId, groupId, groupMember } }: GroupLinksProps) {
  const request = { cursor: null, limit: MOST_MEMBERS, refetchMs: false } as const;
  const members = useEpisodes(runId, { groupId }, request);
  const { previous, next } = groupNeighbours(members.data?.items ?? [], episodeId);
  const ofGroup = encodeURIComponent(groupId);
  return (
    <span className={page.subtle}>
      Group <IdLink id={groupId} to={`../episodes?groupId=${ofGroup}`} />,{' '}
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
      {openedRun() === null && (
        <>
          {' '}
          (
          <Link className={table.link} to={`../side-by-side?group=${ofGroup}`}>
            side by side
          </Link>
          )
        </>
      )}
    </span>
  );
}

interface MemberLinkProps {
  readonly rel: 'prev' | 'next';
  readonly episodeId: string;
  readonly label: string;
  readonly children: ReactNode;
}

function MemberLink({ rel, episodeId, label, children }: MemberLinkProps) {
  return (
    <Link className={table.link} rel={rel} to={`../episodes/${episodeId}`} aria-label={label} title={label}>
      {children}
    </Link>
  );
}
