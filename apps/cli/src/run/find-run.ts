import type { EventLog } from '@retrace/log';
import type { RunState } from '@retrace/trajectory';
import { ControlTail } from '@retrace/log';
import { CliError } from '../cli-error.js';

/**
 * A run of the log by its id; `latest` is the newest.
 *
 * @throws CliError `RUN_UNKNOWN`
 */
export async function findRun(log: EventLog, run: string): Promise<RunState> {
  const control = new ControlTail(log);
  await control.catchUp();
  control.close();
  const found = run === 'latest' ? control.state.runs.at(-1) : control.state.run(run);
  if (found !== undefined) return found;
  throw new CliError('RUN_UNKNOWN', `run ${run}: is not in this log; see "retrace runs"`);
}
