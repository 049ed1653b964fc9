import type { Recipe } from '@retrace/config';
import type { BegunRun } from '@retrace/runs/begin';
import { counted } from '../terminal/counted.js';

/** Says which run begins or goes on, and where its tasks come from files how many updates their epochs are. */
export function announceRun({
  recipe: { name, tasks, data, epochs, numUpdates, initFrom, distillation },
  runId,
  isResumed,
}: BegunRun): string {
  const source = initFrom?.source;
  const from = source ? `, from policy ${source.policyVersion} of run ${source.runId}` : '';
  const start = `${isResumed ? 'resuming' : 'started'} ${name}, run ${runId}${from}${describeTeacher(distillation)}`;
  if (data) {
    return `${start}: ${counted(numUpdates, 'update')} on ${data.sources.map(({ from }) => from).join(' + ')}`;
  }
  if (!tasks?.contents) return start;
  const rows = counted(tasks.contents.numTrain, 'training task');
  const length = epochs === undefined ? rows : `${counted(epochs, 'epoch')} of ${rows}`;
  return `${start}: ${counted(numUpdates, 'update')}, ${length}`;
}

function describeTeacher(distillation: Recipe['distillation']): string {
  if (!distillation) return '';
  const { policy, model, endpoint } = distillation.teacher;
  const { policyVersion, runId } = policy?.source ?? {};
  const served = `${endpoint?.model ?? 'the model'} at ${endpoint?.url}`;
  return `, taught by ${policy ? `policy ${policyVersion} of run ${runId}` : (model ?? served)}`;
}
