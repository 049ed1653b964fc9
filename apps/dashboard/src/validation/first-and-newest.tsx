import { useEpisodesByIds } from '../api/episode-queries';
import type { RunDetail, ValidationTask } from '../api-types/schema';
import { useValidations, useValidationTasks } from './validation-queries';
import controls from '../components/controls.module.css';
import { ErrorState, Loading } from '../components/notice';
import { useAddressFields } from '../components/use-address-fields';
import { formatCount } from '../format/numbers';
import { useRefetchMs } from '../live/use-live-run';
import page from '../components/page.module.css';
import { openedRun } from '../as-of/saved-run';
import { chooseTask } from './chosen-task';
import styles from './first-and-newest.module.css';
import { TwoAttempts } from './two-attempts';

/** Field of the address that names the task. */
const TASK_FIELD = 'task';

/** A task of validation as the first and the newest validated policy of a run played it; nothing before the first validation. */
export function FirstAndNewest({ run }: { readonly run: RunDetail }) {
  const { data: figures = [] } = useValidations(run.runId, useRefetchMs());
  // A saved page has other episodes.
  const newest = figures.find(({ split }) => split === 'validation');
  if (openedRun() !== null || newest === undefined) return null;
  return <ChosenTaskCard run={run} newestVersion={newest.policyVersion} />;
}

interface ChosenTaskCardProps {
  readonly run: RunDetail;
  readonly newestVersion: number;
}

function ChosenTaskCard({ run, newestVersion }: ChosenTaskCardProps) {
  const { runId } = run;
  const [search, change] = useAddressFields();
  const taskId = search.get(TASK_FIELD) ?? '';
  const { data, error, refetch } = useValidationTasks(runId, newestVersion, {
    isChosen: taskId !== '',
    refetchMs: useRefetchMs(),
  });
  if (data === undefined)
    return error === null ? (
      <Loading label="Loading the tasks of validation" />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    );
  const chosen = chooseTask(data.items, taskId);
  if (chosen === null) return null;
  const { task, number, previousId, nextId } = chosen;
  const choose = (taskId: string) => () => {
    change({ [TASK_FIELD]: taskId });
  };
  return (
    <section className={`${page.card} ${styles.card}`} aria-label="First and newest policy">
      <header className={page.head}>
        <h2>An unseen task, first and now</h2>
        <span className={page.grow} />
        <span className={page.subtle}>
          Task {formatCount(number)} of {formatCount(data.items.length)}
          {data.nextCursor !== null && '+'}
        </span>
        <button
          type="button"
          className={controls.button}
          disabled={previousId === null}
          onClick={choose(previousId ?? '')}
        >
          ← Previous task
        </button>
        <button
          type="button"
          className={controls.button}
          disabled={nextId === null}
          onClick={choose(nextId ?? '')}
        >
          Next task →
        </button>
      </header>
      <Attempts runId={runId} task={task} />
    </section>
  );
}

function Attempts({ runId, task }: { readonly runId: string; readonly task: ValidationTask }) {
  const attempts = task.newest === null ? [task.first] : [task.first, task.newest];
  const episodeIds = attempts.map(({ episodeId }) => episodeId);
  const { items, error, isPending, refetch } = useEpisodesByIds(runId, episodeIds);
  if (isPending) return <Loading label="Loading the episodes of the task" />;
  if (items.length < attempts.length) return error && <ErrorState error={error} onRetry={refetch} />;
  return <TwoAttempts key={episodeIds.join(' ')} task={task} episodes={items} />;
}
