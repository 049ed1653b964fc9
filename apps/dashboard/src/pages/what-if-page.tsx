import { useParams } from 'react-router';
import type { WhatIf } from '../api-types/schema';
import { hasEnded, useCancelWhatIf, useWhatIf } from '../api/what-if-queries';
import controls from '../components/controls.module.css';
import { Link } from '../components/link';
import { ErrorState, Loading } from '../components/notice';
import table from '../components/table.module.css';
import { ComparedUpdate } from '../what-if/compared-update';
import { ComparedUpdates } from '../what-if/compared-updates';
import { describeChange, describeRange, WhatIfStatus } from '../what-if/what-if-status';
import page from '../components/page.module.css';
import { useRunOfPage } from '../runs/run-of-page';

/** Recorded updates beside what they would have been. */
export function WhatIfPage() {
  const { runId } = useRunOfPage();
  const { whatIfId = '' } = useParams();
  const whatIf = useWhatIf(runId, whatIfId);
  if (whatIf.isPending) return <Loading label="Loading the comparison" rows={9} />;
  if (!whatIf.data) return <ErrorState error={whatIf.error} onRetry={() => void whatIf.refetch()} />;
  const { updates, failure, updateNumber, toUpdate } = whatIf.data;
  return (
    <div className={page.stack}>
      <WhatIfHead whatIf={whatIf.data} />
      {failure && (
        <p role="alert">
          {failure.message} <span className="mono">{failure.code}</span>
        </p>
      )}
      {updates.length > 0 && <ComparedUpdates updates={updates} />}
      {updateNumber === toUpdate &&
        updates.map((update) => <ComparedUpdate key={update.updateNumber} update={update} />)}
    </div>
  );
}

function WhatIfHead({ whatIf }: { readonly whatIf: WhatIf }) {
  const cancel = useCancelWhatIf(whatIf.runId);
  return (
    <header className={page.head}>
      <h2>
        Update {describeRange(whatIf)}, with {describeChange(whatIf)}
      </h2>
      <WhatIfStatus {...whatIf} />
      {!hasEnded(whatIf) && (
        <>
          <span className={page.subtle}>{describeProgress(whatIf)}</span>
          <button
            type="button"
            className={controls.button}
            disabled={cancel.isPending}
            onClick={() => {
              cancel.mutate(whatIf.whatIfId);
            }}
          >
            Cancel
          </button>
        </>
      )}
      <span className={page.grow} />
      <Link className={table.link} to={`../what-ifs?update=${whatIf.updateNumber}`}>
        Ask another
      </Link>
    </header>
  );
}

function describeProgress({ status, numCompared, updateNumber, toUpdate, recomputing }: WhatIf): string {
  if (status === 'queued') return 'waits for another to end';
  if (numCompared === 0 && recomputing !== null)
    return `makes updates ${recomputing.from}–${recomputing.to} again first`;
  return `${numCompared} of ${toUpdate - updateNumber + 1} compared`;
}
