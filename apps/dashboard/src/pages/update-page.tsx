import { Link, useParams } from 'react-router';
import { useUpdate, useUpdateInputs } from '../api/queries';
import type { Update, UpdateInput } from '../api/schema';
import { DataTable, type TableColumn } from '../components/data-table';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { Pager } from '../components/pager';
import { Stat, StatRow } from '../components/stat';
import table from '../components/table.module.css';
import { usePaging } from '../components/use-paging';
import { shortId } from '../format/ids';
import { formatCount, formatNumber, formatPercent } from '../format/numbers';
import { formatMoment } from '../format/times';
import page from './page.module.css';
import { useRunOfPage } from './run-layout';

const PAGE_SIZE = 100;

const COLUMNS: readonly TableColumn<UpdateInput>[] = [
  {
    label: 'Episode',
    cell: ({ episodeRunId, episodeId }) => (
      <Link
        className={`${table.link} mono`}
        to={`/runs/${episodeRunId}/episodes/${episodeId}`}
        title={episodeId}
      >
        {shortId(episodeId)}
      </Link>
    ),
  },
  {
    label: 'Group',
    isMuted: true,
    cell: ({ groupId }) => (
      <Link className={`${table.link} mono`} to={`../episodes?groupId=${groupId}`} title={groupId}>
        {shortId(groupId)}
      </Link>
    ),
  },
  {
    label: 'Steps',
    isNumeric: true,
    cell: ({ firstStep, numSteps }) =>
      firstStep === 0 ? formatCount(numSteps) : `${firstStep}–${firstStep + numSteps - 1}`,
  },
  {
    label: 'Trained',
    title: 'How often each epoch of optimizer steps trained it; 0: it was left out',
    isNumeric: true,
    cell: ({ times }) => `${times} ×`,
  },
  {
    label: 'Tokens',
    title: 'Action tokens that the loss counted',
    isNumeric: true,
    cell: ({ numTokens }) => formatCount(numTokens),
  },
  {
    label: 'Weight',
    title: 'Mean importance weight of those tokens',
    isNumeric: true,
    cell: ({ weight }) => formatNumber(weight),
  },
  {
    label: 'Advantage',
    title: 'Mean over those tokens',
    isNumeric: true,
    cell: ({ advantageMean }) => formatNumber(advantageMean),
  },
  { label: '±', title: 'Deviation', isNumeric: true, cell: (row) => formatNumber(row.advantageDeviation) },
  { label: 'Least', isNumeric: true, isMuted: true, cell: (row) => formatNumber(row.advantageMin) },
  { label: 'Most', isNumeric: true, isMuted: true, cell: (row) => formatNumber(row.advantageMax) },
];

/** One update, and the episodes that fed it. */
export function UpdatePage() {
  const { runId } = useRunOfPage();
  const { updateNumber = '' } = useParams();
  const update = useUpdate(runId, Number(updateNumber));
  if (update.isPending) return <Loading label="Loading the update" rows={6} />;
  if (!update.data) return <ErrorState error={update.error} onRetry={() => void update.refetch()} />;
  return (
    <div className={page.stack}>
      <UpdateFacts update={update.data} />
      <UpdateInputs runId={runId} update={update.data} />
    </div>
  );
}

function UpdateFacts({ update }: { readonly update: Update }) {
  const { updateNumber, stage, policyVersionIn, policyVersionOut, metrics, appliedAt } = update;
  return (
    <>
      <header className={page.head}>
        <h2>Update {updateNumber}</h2>
        <span className={page.grow} />
        {appliedAt !== null && (
          <Link className={table.link} to={`../what-ifs?update=${updateNumber}`}>
            What if …
          </Link>
        )}
      </header>
      <StatRow>
        <Stat label="Stage">{stage}</Stat>
        <Stat label="Policy">
          {policyVersionIn} → {policyVersionOut ?? '…'}
        </Stat>
        <Stat label="Loss">{formatNumber(metrics['train/loss'])}</Stat>
        <Stat label="Grad norm">{formatNumber(metrics['train/gradientNorm'])}</Stat>
        <Stat label="Clipped">{formatPercent(metrics['train/clipFraction'])}</Stat>
        <Stat label="Applied">
          <small>{formatMoment(appliedAt)}</small>
        </Stat>
      </StatRow>
    </>
  );
}

function UpdateInputs({ runId, update }: { readonly runId: string; readonly update: Update }) {
  const { updateNumber, numEpisodes, appliedAt } = update;
  const paging = usePaging(`${runId} ${updateNumber}`);
  const inputs = useUpdateInputs(runId, updateNumber, { cursor: paging.cursor, limit: PAGE_SIZE });
  if (inputs.isPending) return <Loading label="Loading its episodes" rows={12} />;
  if (!inputs.data) return <ErrorState error={inputs.error} onRetry={() => void inputs.refetch()} />;
  const { items, nextCursor } = inputs.data;
  if (items.length === 0) {
    return (
      <EmptyState title={appliedAt === null ? 'Not applied yet' : 'Not recorded'}>
        <Link className={table.link} to={`../episodes?update=${updateNumber}`}>
          {formatCount(numEpisodes)} episodes
        </Link>{' '}
        are in its batch; the part that each has in it is known once it is applied.
      </EmptyState>
    );
  }
  return (
    <>
      <DataTable
        label={`Episodes that fed update ${updateNumber}`}
        columns={COLUMNS}
        rows={items}
        keyOf={({ place }) => `${place}`}
        isStale={inputs.isPlaceholderData}
      />
      <Pager paging={paging} nextCursor={nextCursor} numItems={items.length} />
    </>
  );
}
