import { parseRecipe } from '@retrace/config';
import type { RunState } from '@retrace/trajectory';
import type { ControlTail } from '@retrace/log';
import { CliError } from '../cli-error.js';

/**
 * Chooses the run that a role works for: the one with this id, or for `latest` the newest unfinished training run, for which it
 * waits. Null when the signal aborts first.
 *
 * @throws CliError `RUN_UNKNOWN` when the log has no run of that id
 */
export async function chooseRun(
  control: ControlTail,
  run: string,
  signal: AbortSignal,
): Promise<string | null> {
  await control.catchUp();
  if (run !== 'latest') {
    if (control.state.run(run) === undefined) {
      throw new CliError('RUN_UNKNOWN', `run "${run}" not found in this log; see "retrace runs"`);
    }
    return run;
  }
  while (!signal.aborted) {
    const latest = control.state.runs.findLast((state) => state.ended === null && isTraining(state));
    if (latest !== undefined) return latest.runId;
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
