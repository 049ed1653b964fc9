import { useSearch } from '../as-of/shown-moment';
import { useUpdateInputs, type UpdateInputsOrder } from '../api/update-queries';
import type { Update } from '../api-types/schema';
import { Link } from '../components/link';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { Pager } from '../components/pager';
import { Segments } from '../components/segments';
import table from '../components/table.module.css';
import { usePaging } from '../components/use-paging';
import { WideTable } from '../components/wide-table';
import { formatCount } from '../format/numbers';
import page from '../components/page.module.css';
import { countKept } from '../as-of/saved-run';
import { inputColumns } from './input-columns';
import { readOrder, writeOrder } from './inputs-order';

const PAGE_SIZE = 100;

const ENDINGS = [
  { value: 'all', label: 'All' },
  { value: 'succeeded', label: 'Succeeded' },
  { value: 'failed', label: 'Failed' },
] as const;

/** The episodes that fed an update, those first that did most to its gradient. The address keeps how they are sorted. */
export function UpdateInputs({ runId, update }: { readonly runId: string; readonly update: Update }) {
  const { updateNumber, numEpisodes, appliedAt } = update;
  const [parameters, setParameters] = useSearch();
  const order = readOrder(parameters);
  const paging = usePaging(`${runId} ${updateNumber} ${JSON.stringify(order)}`);
  const inputs = useUpdateInputs(runId, updateNumber, { cursor: paging.cursor, limit: PAGE_SIZE, ...order });
  const change = (changed: UpdateInputsOrder) => {
    setParameters(writeOrder({ ...order, ...changed }), { replace: true });
  };
  if (inputs.isPending) return <Loading label="Loading its episodes" rows={12} />;
  if (!inputs.data) return <ErrorState error={inputs.error} onRetry={() => void inputs.refetch()} />;
  const { items, nextCursor } = inputs.data;
  const numKept = countKept(`/api/runs/${runId}/updates/${updateNumber}/inputs`);
  if (items.length === 0 && order.success === undefined) {
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
      <div className={page.head}>
        <span className={page.grow}>
          {numKept !== null && (
            <span className={page.subtle}>
              This page has the {formatCount(numKept)} episodes with the largest share, of{' '}
              {formatCount(numEpisodes)}.
            </span>
          )}
        </span>
        <Segments
          label="Episodes"
          value={order.success === undefined ? 'all' : order.success ? 'succeeded' : 'failed'}
          options={ENDINGS}
          onChange={(ending) => {
            change({ success: ending === 'all' ? undefined : ending === 'succeeded' });
          }}
        />
      </div>
      <WideTable
        keptAs="updateInputs"
        label={`Episodes that fed update ${updateNumber}`}
        columns={inputColumns(runId, updateNumber)}
        rows={items}
        keyOf={({ place }) => `${place}`}
        isStale={inputs.isPlaceholderData}
        sort={{ key: order.sort, order: order.order }}
        onSort={({ key, order: direction }) => {
          change({ sort: key as UpdateInputsOrder['sort'], order: direction });
        }}
      />
      <Pager paging={paging} nextCursor={nextCursor} numItems={items.length} />
    </>
  );
}
