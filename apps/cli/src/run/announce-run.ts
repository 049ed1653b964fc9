import type { Recipe } from '@retrace/config';
import type { BegunRun } from '@retrace/runs/begin';

/** Says which run begins or goes on, and where its tasks come from files how many updates their epochs are. */
export function announceRun({
  recipe: { name, tasks, data, epochs, numUpdates, initFrom, distillation },
  runId,
  isResumed,
}: BegunRun): string {
  const source = initFrom?.source;
  const from = source ? `, from policy ${source.policyVersion} of run ${source.runId}` : '';
  const start = `${isResumed ? 'resuming' : 'started'} ${name}, run ${runId}${from}${teacherOf(distillation)}`;
  if (data) {
    const updates = numUpdates.toLocaleString('en');
    return `${start}: ${updates} updates on ${data.sources.map(({ from }) => from).join(' + ')}`;
  }
  if (!tasks?.contents) return start;
  const rows = `${tasks.contents.numTrain.toLocaleString('en')} training tasks`;
  const length = epochs === undefined ? rows : `${epochs} epochs of ${rows}`;
  return `${start}: ${numUpdates.toLocaleString('en')} updates, ${length}`;
}

function teacherOf(distillation: Recipe['distillation']): string {
  if (!distillation) return '';
  const { policy, model, endpoint } = distillation.teacher;
  const { policyVersion, runId } = policy?.source ?? {};
  const served = `${endpoint?.model ?? 'the model'} at ${endpoint?.url}`;
  return `, taught by ${policy ? `policy ${policyVersion} of run ${runId}` : (model ?? served)}`;
}
