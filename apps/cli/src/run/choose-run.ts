import { parseRecipe } from '@retrace/config';
import type { RunState } from '@retrace/trajectory';
import type { ControlTail } from '@retrace/log';
import { selectRun } from './find-run.js';
import { sayChosenRun } from './said-runs.js';

/**
 * Chooses the run that a role works for, as `selectRun` does; for `latest` it waits until there is an unfinished training run. Null
 * when the signal aborts first.
 *
 * @throws CliError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`
 */
export async function chooseRun(
  control: ControlTail,
  run: string,
  signal: AbortSignal,
): Promise<string | null> {
  await control.catchUp();
  if (run !== 'latest') return selectRun(control.state.runs, run).runId;
  while (!signal.aborted) {
    const latest = control.state.runs.findLast((state) => state.ended === null && isTraining(state));
    if (latest !== undefined) {
      sayChosenRun(run, latest);
      return latest.runId;
    }
    await control.changed(signal);
  }
  return null;
}

/** Whether a trainer works on the run. Runs of `retrace collect` have no recipe. */
function isTraining({ started }: RunState): boolean {
  try {
    parseRecipe(started.recipe);
    return true;
  } catch {
    return false;
  }
}
