import { useChangeTraining, useTrainingQueue } from '../api/queue-queries';
import type { RunDetail } from '../api-types/schema';
import { Badge } from '../components/badge';
import controls from '../components/controls.module.css';
import { hasEnded } from '../format/run-state';

/** Stops the run where this server trains it, or resumes one that has not ended and nobody trains. */
export function TrainingButton({ run }: { readonly run: RunDetail }) {
  const { data: queue } = useTrainingQueue();
  const change = useChangeTraining(run.runId);
  if (queue?.isAvailable !== true || run.kind !== 'trained' || hasEnded(run)) return null;
  const isRunning = queue.running?.runId === run.runId;
  if (isRunning && queue.running?.status === 'stopping') return <Badge tone="warn">Stopping</Badge>;
  if (queue.queued.some(({ runId }) => runId === run.runId)) return <Badge>Queued</Badge>;
  // A run that logged something lately, and was not trained here, is trained by another process.
  const wasTrainedHere = queue.ended.some(({ runId }) => runId === run.runId);
  if (!isRunning && !wasTrainedHere && run.status === 'running') return null;
  const action = isRunning ? 'stop' : 'resume';
  return (
    <>
      <button
        type="button"
        className={controls.button}
        disabled={change.isPending}
        onClick={() => change.mutate(action)}
      >
        {isRunning ? 'Stop' : 'Resume'}
      </button>
      {change.error && (
        <span role="alert">
          <Badge tone="bad">{change.error.message}</Badge>
        </span>
      )}
    </>
  );
}
