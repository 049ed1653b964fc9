import { parseRecipe } from '@retrace/config';
import type { RunState } from '@retrace/trajectory';
import type { ControlTail } from '@retrace/log';
import { CliError } from '../cli-error.js';

/**
 * The run that a role works for: the one with the id, or for `latest` the newest training run that has not ended, waited for
 * when there is none yet. Null when the signal aborts first.
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
      throw new CliError('RUN_UNKNOWN', `run ${run}: not in this log; "retrace runs" lists those that are`);
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

/** Runs that only collect have no recipe of a trainer. */
function isTraining({ started }: RunState): boolean {
  try {
    parseRecipe(started.recipe);
    return true;
  } catch {
    return false;
  }
}
