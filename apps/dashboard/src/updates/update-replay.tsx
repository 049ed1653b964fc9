import { useAskReplay, useCancelReplay, useReplay } from '../api/replay-queries';
import type { Replay } from '../api-types/schema';
import { hasEnded } from '../api/what-if-queries';
import { Badge } from '../components/badge';
import controls from '../components/controls.module.css';
import { DataTable } from '../components/data-table';
import { ErrorState } from '../components/notice';
import { codeColumn, numberColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { TooltipButton } from '../components/tooltip';
import page from '../components/page.module.css';
import { replayVerdict } from './replay-verdict';

type Metric = NonNullable<Replay['result']>['metrics'][number];

const METRICS: readonly TableColumn<Metric>[] = [
  codeColumn('Metric', ({ name }) => name),
  numberColumn('Recorded', ({ recorded }) => recorded),
  numberColumn('Replayed', ({ replayed }) => replayed),
];

/** A button that has the update made again from its stored episodes, and what came of it. */
export function UpdateReplay({
  runId,
  updateNumber,
}: {
  readonly runId: string;
  readonly updateNumber: number;
}) {
  const ask = useAskReplay(runId);
  const cancel = useCancelReplay();
  const { data: replay, error } = useReplay(ask.data);
  const isRunning = replay !== undefined && !hasEnded(replay) && error === null;
  return (
    <section aria-label="Replay" className={page.stack}>
      <div className={page.head}>
        <TooltipButton
          className={controls.button}
          disabled={ask.isPending || isRunning}
          tooltip="Makes this update again from its stored episodes, and compares every bit; nothing is written"
          onClick={() => {
            ask.mutate(updateNumber);
          }}
        >
          Replay
        </TooltipButton>
        {isRunning && (
          <>
            <span role="status">{describeProgress(replay)}</span>
            <button
              type="button"
              className={controls.button}
              disabled={cancel.isPending}
              onClick={() => {
                cancel.mutate(replay);
              }}
            >
              Cancel
            </button>
          </>
        )}
        {replay !== undefined && hasEnded(replay) && <Outcome replay={replay} />}
      </div>
      {ask.error && <ErrorState error={ask.error} />}
      {error && !isRunning && replay !== undefined && !hasEnded(replay) && <ErrorState error={error} />}
      {replay?.result && <DifferingMetrics metrics={replay.result.metrics} />}
    </section>
  );
}

function Outcome({ replay: { result, failure, status } }: { readonly replay: Replay }) {
  if (result === null)
    return (
      <span role={failure === null ? 'status' : 'alert'}>
        {failure?.message ?? status} <span className="mono">{failure?.code}</span>
      </span>
    );
  const { tone, title, detail } = replayVerdict(result);
  return (
    <span role="status">
      <Badge tone={tone}>{title}</Badge> <span className={page.subtle}>{detail}</span>
    </span>
  );
}

function describeProgress({ status, recomputing }: Replay): string {
  if (status === 'queued') return 'waits for another to end';
  if (recomputing === null) return 'makes the update again …';
  return `makes updates ${recomputing.from}–${recomputing.to} again first …`;
}

/** The metrics that differ, where any does. */
function DifferingMetrics({ metrics }: { readonly metrics: readonly Metric[] }) {
  const differing = metrics.filter(({ recorded, replayed }) => recorded !== replayed);
  if (differing.length === 0) return null;
  return (
    <DataTable label="Metrics that differ" columns={METRICS} rows={differing} keyOf={({ name }) => name} />
  );
}
