import { isRecipe } from '@retrace/config';
import type { ControlTail } from '@retrace/log';
import { selectRun, type OnChosen } from '../choose/select-run.js';

/**
 * Chooses the run that a role works for, as `selectRun` does; for `latest` it waits until there is an unfinished training run. Null
 * when the signal aborts first. Runs of `retrace collect` have no recipe, so no trainer works on them.
 *
 * @throws RunsError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`
 */
export async function chooseRun(
  control: ControlTail,
  run: string,
  { signal, onChosen }: { readonly signal: AbortSignal; readonly onChosen?: OnChosen },
): Promise<string | null> {
  await control.catchUp();
  if (run !== 'latest') return selectRun(control.state.runs, run, { onChosen }).runId;
  while (!signal.aborted) {
    const latest = control.state.runs.findLast(
      ({ ended, started }) => ended === null && isRecipe(started.recipe),
    );
    if (latest !== undefined) {
      onChosen?.(run, latest);
      return latest.runId;
    }
    await control.changed(signal);
  }
  return null;
}
