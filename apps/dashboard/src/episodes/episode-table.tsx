import type { EpisodeListItem } from '../api-types/schema';
import { Badge, OutcomeBadge } from '../components/badge';
import { IdLink } from '../components/id-link';
import { Link } from '../components/link';
import { EmptyState } from '../components/notice';
import type { TableColumn } from '../components/table-model';
import { WideTable } from '../components/wide-table';
import { shortId } from '../format/ids';
import { formatCount, formatNumber } from '../format/numbers';
import { formatDuration, formatMoment } from '../format/times';
import { episodeDurationMs, formatVersions } from './episode-facts';

const COLUMNS: readonly TableColumn<EpisodeListItem>[] = [
  {
    label: 'Episode',
    cell: ({ episodeId }) => <IdLink id={episodeId} to={episodeId} />,
  },
  { label: 'Outcome', cell: (episode) => <OutcomeBadge {...episode} /> },
  {
    label: 'Tags',
    cell: ({ tags }) =>
      tags.map((tag) => (
        <Link
          key={tag}
          to={`?tag=${encodeURIComponent(tag)}`}
          title={`Show only episodes with the tag ${tag}`}
        >
          <Badge>{tag}</Badge>
        </Link>
      )),
  },
  { label: 'Return', isNumeric: true, cell: (episode) => formatNumber(episode.return) },
  { label: 'Steps', isNumeric: true, cell: ({ numSteps }) => formatCount(numSteps) },
  { label: 'Tokens', isNumeric: true, cell: ({ numTokens }) => formatCount(numTokens) },
  { label: 'Policy version', isNumeric: true, cell: formatVersions },
  { label: 'Split', cell: ({ split }) => split },
  { label: 'Agent', cell: ({ agent }) => agent },
  {
    label: 'Group',
    isMuted: true,
    cell: ({ groupId, groupMember }) => (
      <Link className="mono" to={`?groupId=${groupId}`} title={`Show only group ${groupId}`}>
        {shortId(groupId)}·{groupMember}
      </Link>
    ),
  },
  { label: 'End reason', isMuted: true, cell: ({ endReason }) => endReason ?? '–' },
  { label: 'Started', isMuted: true, cell: ({ startedAt }) => formatMoment(startedAt) },
  {
    label: 'Duration',
    isNumeric: true,
    isMuted: true,
    cell: (episode) => formatDuration(episodeDurationMs(episode)),
  },
];

interface EpisodeTableProps {
  readonly episodes: readonly EpisodeListItem[];
  readonly isStale: boolean;
}

export function EpisodeTable({ episodes, isStale }: EpisodeTableProps) {
  if (episodes.length === 0) {
    return (
      <EmptyState title="No episodes">
        No episode matches these filters, or the run has not collected any yet.
      </EmptyState>
    );
  }
  return (
    <WideTable
      keptAs="episodes"
      label="Episodes"
      columns={COLUMNS}
      rows={episodes}
      keyOf={({ episodeId }) => episodeId}
      isStale={isStale}
    />
  );
}
