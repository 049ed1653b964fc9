import { useSearchParams } from 'react-router';
import { useOpenPage } from '../as-of/shown-moment';
import type { WhatIfItem } from '../api-types/schema';
import { useWhatIfs } from '../api/what-if-queries';
import { DataTable } from '../components/data-table';
import { Link } from '../components/link';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import type { TableColumn } from '../components/table-model';
import table from '../components/table.module.css';
import { formatMoment } from '../format/times';
import { WhatIfForm } from '../what-if/what-if-form';
import { describeChange, describeRange, WhatIfStatus } from '../what-if/what-if-status';
import page from '../components/page.module.css';
import { useRunOfPage } from '../runs/run-of-page';

const COLUMNS: readonly TableColumn<WhatIfItem>[] = [
  {
    label: 'Updates',
    isNumeric: true,
    cell: (item) => (
      <Link className={table.link} to={item.whatIfId} title="Show the comparison">
        {describeRange(item)}
      </Link>
    ),
  },
  { label: 'Changed', cell: (item) => <span className="mono">{describeChange(item)}</span> },
  { label: 'Status', cell: (item) => <WhatIfStatus {...item} /> },
  { label: 'Compared', isNumeric: true, cell: ({ numCompared }) => numCompared },
  { label: 'Asked', isMuted: true, cell: ({ askedAt }) => formatMoment(askedAt) },
];

/** Asks what updates of the run would have been, and lists what was asked. */
export function WhatIfsPage() {
  const run = useRunOfPage();
  const [search] = useSearchParams();
  const open = useOpenPage();
  const whatIfs = useWhatIfs(run.runId);
  const updateNumber = search.get('update') ?? '';
  return (
    <div className={page.stack}>
      <h2>What if</h2>
      <p className={page.subtle}>
        Compares recorded updates with what they would have been under another reward, estimator, loss, clip
        or correction, each from the weights that it really started from. Nothing is published.
      </p>
      <WhatIfForm
        key={updateNumber}
        run={run}
        updateNumber={updateNumber}
        onAsked={({ whatIfId }) => open(whatIfId)}
      />
      {whatIfs.isPending && <Loading label="Loading what was asked" rows={4} />}
      {whatIfs.error && <ErrorState error={whatIfs.error} onRetry={() => void whatIfs.refetch()} />}
      {whatIfs.data?.length === 0 && (
        <EmptyState title="Nothing asked yet">The server keeps answers until it stops.</EmptyState>
      )}
      {whatIfs.data && whatIfs.data.length > 0 && (
        <DataTable
          label="What-ifs"
          columns={COLUMNS}
          rows={whatIfs.data}
          keyOf={({ whatIfId }) => whatIfId}
        />
      )}
    </div>
  );
}
