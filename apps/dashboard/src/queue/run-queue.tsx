import { useCancelQueued } from '../api/queue-queries';
import type { QueuedRun, TrainingQueue } from '../api-types/schema';
import { Badge } from '../components/badge';
import controls from '../components/controls.module.css';
import { Link } from '../components/link';
import { ErrorState } from '../components/notice';
import page from '../components/page.module.css';
import styles from './queue.module.css';

/** Runs that ended without success are shown for as long as the server remembers them. */
const MAX_FAILED = 3;

/** The runs that wait for the one that is trained, in their order, and those that failed lately. */
export function QueueCard({ queue }: { readonly queue: TrainingQueue }) {
  const cancel = useCancelQueued();
  const failed = queue.ended.filter(({ status }) => status === 'failed').slice(0, MAX_FAILED);
  if (queue.queued.length === 0 && failed.length === 0) return null;
  return (
    <section className={`${page.card} ${styles.queue}`} aria-label="Queue">
      {queue.queued.length > 0 && (
        <>
          <h2>Queue</h2>
          <ol>
            {queue.queued.map((item) => (
              <li key={item.queueId}>
                <RunName item={item} /> <span className={page.subtle}>{describe(item)}</span>
                <button
                  type="button"
                  className={controls.button}
                  disabled={cancel.isPending}
                  aria-label={`Cancel ${item.name}`}
                  onClick={() => cancel.mutate(item.queueId)}
                >
                  Cancel
                </button>
              </li>
            ))}
          </ol>
        </>
      )}
      {failed.map((item) => (
        <p key={item.queueId}>
          <Badge tone="bad">Failed</Badge> <RunName item={item} />{' '}
          <span className={page.subtle}>{item.detail}</span>
        </p>
      ))}
      {cancel.error && <ErrorState error={cancel.error} />}
    </section>
  );
}

function RunName({ item: { name, runId } }: { readonly item: QueuedRun }) {
  return runId === null ? <strong>{name}</strong> : <Link to={`/runs/${runId}`}>{name}</Link>;
}

/** Lists what was asked for beside the recipe. */
function describe({ runId, start }: QueuedRun): string {
  if (start === null) return runId === null ? '' : 'resumed';
  const { algorithm, numUpdates, seed, initFrom, overrides = {} } = start;
  return [
    ...(algorithm === undefined ? [] : [algorithm]),
    ...(numUpdates === undefined ? [] : [`${numUpdates.toLocaleString('en')} updates`]),
    ...(seed === undefined ? [] : [`seed ${seed}`]),
    ...(initFrom === undefined ? [] : [`from ${initFrom}`]),
    ...Object.entries(overrides).map(([field, value]) => `${field}=${JSON.stringify(value)}`),
  ].join(', ');
}
