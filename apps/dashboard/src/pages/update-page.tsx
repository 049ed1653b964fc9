import { useLocation, useParams } from 'react-router';
import { Link } from '../components/link';
import { useUpdate, useUpdates } from '../api/update-queries';
import type { Update } from '../api-types/schema';
import { ErrorState, Loading } from '../components/notice';
import { Stat, StatRow } from '../components/stat';
import table from '../components/table.module.css';
import { formatNumber, formatPercent } from '../format/numbers';
import { formatMoment } from '../format/times';
import { UpdateDistributions } from '../updates/update-distributions';
import { UpdateInputs } from '../updates/update-inputs';
import { UpdateLineage } from '../updates/update-lineage';
import { UpdateMetrics } from '../updates/update-metrics';
import { UpdateReplay } from '../updates/update-replay';
import { useRefetchMs } from '../live/use-live-run';
import { isLeftOut, openedRun } from '../as-of/saved-run';
import page from '../components/page.module.css';
import { useRunOfPage } from '../runs/run-of-page';

/** One update, and the episodes that fed it. */
export function UpdatePage() {
  const { runId, kind } = useRunOfPage();
  const { updateNumber = '' } = useParams();
  const update = useUpdate(runId, Number(updateNumber));
  if (update.isPending) return <Loading label="Loading the update" rows={6} />;
  if (!update.data) return <ErrorState error={update.error} onRetry={() => void update.refetch()} />;
  // A trainer outside made those of a recorded run, and only it can make them again.
  const canBeMadeAgain = update.data.appliedAt !== null && kind === 'trained' && openedRun() === null;
  const hasDetails = !isLeftOut(`/api/runs/${runId}/updates/${updateNumber}/lineage`);
  return (
    <div className={page.stack}>
      <UpdateFacts runId={runId} update={update.data} canBeMadeAgain={canBeMadeAgain} />
      {canBeMadeAgain && (
        <UpdateReplay key={updateNumber} runId={runId} updateNumber={update.data.updateNumber} />
      )}
      {hasDetails && <UpdateLineage runId={runId} update={update.data} />}
      <UpdateMetrics metrics={update.data.metrics} />
      {hasDetails ? (
        <>
          <UpdateDistributions runId={runId} updateNumber={update.data.updateNumber} />
          <UpdateInputs runId={runId} update={update.data} />
        </>
      ) : (
        <p className={page.subtle}>Lineage, histograms and episodes of this update are not in this page.</p>
      )}
    </div>
  );
}

interface UpdateFactsProps {
  readonly runId: string;
  readonly update: Update;
  readonly canBeMadeAgain: boolean;
}

function UpdateFacts({ runId, update, canBeMadeAgain }: UpdateFactsProps) {
  const newest = useUpdates(runId, { cursor: null, limit: 1, refetchMs: useRefetchMs() });
  const { updateNumber, stage, policyVersionIn, policyVersionOut, metrics, appliedAt, engine } = update;
  return (
    <>
      <header className={page.head}>
        <h2>Update {updateNumber}</h2>
        <Neighbours updateNumber={updateNumber} newest={newest.data?.items[0]?.updateNumber} />
        <span className={page.grow} />
        {appliedAt !== null && openedRun() === null && (
          <Link className={table.link} to={`?${new URLSearchParams({ asOf: appliedAt }).toString()}`}>
            As of this update
          </Link>
        )}
        {canBeMadeAgain && (
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
        {engine && <Stat label="Engine">{engine}</Stat>}
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

/** Links to the update before and the one after it. */
function Neighbours({ updateNumber, newest }: { readonly updateNumber: number; readonly newest?: number }) {
  const { search } = useLocation();
  const hasNext = newest !== undefined && updateNumber < newest;
  return (
    <nav className={page.subtle} aria-label="Updates beside this one">
      {updateNumber > 1 && (
        <Link className={table.link} rel="prev" to={`../updates/${updateNumber - 1}${search}`}>
          ← {updateNumber - 1}
        </Link>
      )}
      {updateNumber > 1 && hasNext && ' · '}
      {hasNext && (
        <Link className={table.link} rel="next" to={`../updates/${updateNumber + 1}${search}`}>
          {updateNumber + 1} →
        </Link>
      )}
    </nav>
  );
}
