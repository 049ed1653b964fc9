import { Link } from 'react-router';
import { useUpdates } from '../api/queries';
import type { Update } from '../api/types';
import { Badge } from '../components/badge';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { Pager } from '../components/pager';
import table from '../components/table.module.css';
import { usePaging } from '../components/use-paging';
import { formatCount, formatNumber, formatPercent } from '../format/numbers';
import { formatDuration, formatMoment } from '../format/times';
import { useRefetchMs } from '../live/use-live-run';
import { useRunOfPage } from './run-layout';

const PAGE_SIZE = 50;

const METRIC_COLUMNS: readonly {
  readonly name: string;
  readonly label: string;
  readonly format: (value: number | undefined) => string;
}[] = [
  { name: 'train/loss', label: 'Loss', format: formatNumber },
  { name: 'train/policyLoss', label: 'Policy loss', format: formatNumber },
  { name: 'train/valueLoss', label: 'Value loss', format: formatNumber },
  { name: 'train/entropy', label: 'Entropy', format: formatNumber },
  { name: 'train/approximateKl', label: 'KL step', format: formatNumber },
  { name: 'train/clipFraction', label: 'Clipped', format: (value) => formatPercent(value) },
  { name: 'train/gradientNorm', label: 'Grad norm', format: formatNumber },
  { name: 'train/stalenessMax', label: 'Staleness', format: formatNumber },
];

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
  return (
    <>
      <UpdateTable updates={updates.data.items} isStale={updates.isPlaceholderData} />
      <Pager paging={paging} nextCursor={updates.data.nextCursor} numItems={updates.data.items.length} />
    </>
  );
}

function UpdateTable({
  updates,
  isStale,
}: {
  readonly updates: readonly Update[];
  readonly isStale: boolean;
}) {
  if (updates.length === 0) {
    return <EmptyState title="No updates yet">The first one follows the first round of episodes.</EmptyState>;
  }
  return (
    <div className={`${table.frame} ${isStale ? table.busy : ''}`}>
      <table className={table.table}>
        <thead>
          <tr>
            <th scope="col" className={table.number}>
              Update
            </th>
            <th scope="col">Stage</th>
            <th scope="col">Policy</th>
            <th scope="col" className={table.number}>
              Batch
            </th>
            {METRIC_COLUMNS.map(({ name, label }) => (
              <th key={name} scope="col" className={table.number}>
                {label}
              </th>
            ))}
            <th scope="col">Applied</th>
            <th scope="col" className={table.number}>
              Took
            </th>
            <th scope="col">Weights</th>
          </tr>
        </thead>
        <tbody>
          {updates.map((update) => (
            <tr key={update.planId}>
              <td className={table.number}>{update.updateNumber}</td>
              <td>
                {update.appliedAt ? update.stage : <Badge tone="accent">{update.stage} · planned</Badge>}
              </td>
              <td className={table.muted}>
                {update.policyVersionIn} → {update.policyVersionOut ?? '…'}
              </td>
              <td className={table.number}>
                <Link
                  className={table.link}
                  to={`../episodes?update=${update.updateNumber}`}
                  title="The episodes that fed this update"
                >
                  {formatCount(update.numEpisodes)} episodes
                </Link>
              </td>
              {METRIC_COLUMNS.map(({ name, format }) => (
                <td key={name} className={table.number}>
                  {format(update.metrics[name])}
                </td>
              ))}
              <td className={table.muted}>{formatMoment(update.appliedAt)}</td>
              <td className={`${table.number} ${table.muted}`}>
                {formatDuration(
                  update.appliedAt ? Date.parse(update.appliedAt) - Date.parse(update.plannedAt) : null,
                )}
              </td>
              <td className={`${table.muted} mono`} title={update.weightsSha256 ?? undefined}>
                {update.weightsSha256?.slice(0, 8) ?? '–'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
