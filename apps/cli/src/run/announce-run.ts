import type { Recipe } from '@retrace/config';
import type { BegunRun } from './begin-run.js';

/** Says which run begins or goes on, and where its tasks come from files how many updates their epochs are. */
export function announceRun(
  { name, tasks, epochs, numUpdates }: Recipe,
  { runId, isResumed }: BegunRun,
): string {
  const start = `${isResumed ? 'resuming' : 'started'} ${name}, run ${runId}`;
  if (!tasks?.contents) return start;
  const rows = `${tasks.contents.numTrain.toLocaleString('en')} training tasks`;
  const length = epochs === undefined ? rows : `${epochs} epochs of ${rows}`;
  return `${start}: ${numUpdates.toLocaleString('en')} updates, ${length}`;
}
