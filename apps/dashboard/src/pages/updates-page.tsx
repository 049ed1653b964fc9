import { useUpdates } from '../api/update-queries';
import type { Update } from '../api-types/schema';
import { Badge } from '../components/badge';
import { Link } from '../components/link';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { Pager } from '../components/pager';
import type { TableColumn } from '../components/table-model';
import table from '../components/table.module.css';
import { usePaging } from '../components/use-paging';
import { WideTable } from '../components/wide-table';
import { formatCount, formatNumber, formatPercent } from '../format/numbers';
import { formatDuration, formatMoment } from '../format/times';
import { useRefetchMs } from '../live/use-live-run';
import { useRunOfPage } from '../runs/run-of-page';

const PAGE_SIZE = 50;

interface UpdateColumn extends TableColumn<Update> {
  /** The metric that the column shows; without any value of it, the column is hidden. */
  readonly metric?: string;
}

function metricColumn(
  label: string,
  metric: string,
  format: (value: number | undefined) => string = formatNumber,
): UpdateColumn {
  return { label, metric, isNumeric: true, cell: ({ metrics }) => format(metrics[metric]) };
}

const COLUMNS: readonly UpdateColumn[] = [
  {
    label: 'Update',
    isNumeric: true,
    cell: ({ updateNumber }) => (
      <Link className={table.link} to={`${updateNumber}`} title="Show what fed this update">
        {updateNumber}
      </Link>
    ),
  },
  {
    label: 'Stage',
    cell: ({ stage, appliedAt }) => (appliedAt ? stage : <Badge tone="accent">{stage} · planned</Badge>),
  },
  {
    label: 'Policy',
    isMuted: true,
    cell: ({ policyVersionIn, policyVersionOut }) => `${policyVersionIn} → ${policyVersionOut ?? '…'}`,
  },
  {
    label: 'Episodes',
    isNumeric: true,
    cell: ({ updateNumber, numEpisodes }) => (
      <Link
        className={table.link}
        to={`../episodes?update=${updateNumber}`}
        title="Show the episodes of this batch"
      >
        {formatCount(numEpisodes)}
      </Link>
    ),
  },
  metricColumn('Loss', 'train/loss'),
  metricColumn('Policy loss', 'train/policyLoss'),
  metricColumn('Value loss', 'train/valueLoss'),
  metricColumn('Entropy', 'train/entropy'),
  metricColumn('KL', 'train/approximateKl'),
  metricColumn('Clipped', 'train/clipFraction', (value) => formatPercent(value)),
  metricColumn('Equal groups', 'train/numEqualGroups', formatCount),
  metricColumn('Grad norm', 'train/gradientNorm'),
  metricColumn('Own groups', 'data/numOwnGroups', formatCount),
  metricColumn('Stored groups', 'data/numStoredGroups', formatCount),
  metricColumn('Left out', 'data/numGroupsLeftOut', formatCount),
  metricColumn('Staleness', 'train/stalenessMax'),
  { label: 'Applied', isMuted: true, cell: ({ appliedAt }) => formatMoment(appliedAt) },
  {
    label: 'Duration',
    isNumeric: true,
    isMuted: true,
    // Of one that a trainer outside made it is not known: plan and commit were recorded together.
    cell: ({ plannedAt, appliedAt }) =>
      formatDuration(
        appliedAt && appliedAt !== plannedAt ? Date.parse(appliedAt) - Date.parse(plannedAt) : null,
      ),
  },
  {
    label: 'Weights',
    isMuted: true,
    cell: ({ weightsSha256 }) => (
      <span className="mono" title={weightsSha256 ? `SHA-256 ${weightsSha256}` : undefined}>
        {weightsSha256 ? weightsSha256.slice(0, 8) : '–'}
      </span>
    ),
  },
];

/** The updates of the run, newest first. */
export function UpdatesPage() {
  const { runId } = useRunOfPage();
  const paging = usePaging(runId);
  const refetchMs = useRefetchMs();
  const updates = useUpdates(runId, {
    cursor: paging.cursor,
    limit: PAGE_SIZE,
    refetchMs: paging.pageNumber === 1 ? refetchMs : false,
  });

  if (updates.isPending) return <Loading label="Loading updates" rows={12} />;
  if (!updates.data) return <ErrorState error={updates.error} onRetry={() => void updates.refetch()} />;
  const { items, nextCursor } = updates.data;
  if (items.length === 0) {
    return (
      <EmptyState title="No updates yet">The first update follows the first round of episodes.</EmptyState>
    );
  }
  return (
    <>
      <WideTable
        keptAs="updates"
        label="Updates"
        columns={COLUMNS.filter(({ metric }) => !metric || items.some(({ metrics }) => metric in metrics))}
        rows={items}
        keyOf={({ planId }) => planId}
        isStale={updates.isPlaceholderData}
      />
      <Pager paging={paging} nextCursor={nextCursor} numItems={items.length} />
    </>
  );
}
