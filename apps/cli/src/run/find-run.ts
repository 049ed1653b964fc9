import type { EventLog } from '@retrace/log';
import type { RunState } from '@retrace/trajectory';
import { CliError } from '../cli-error.js';
import { readControlState } from '../services/control-state.js';

/**
 * Finds a run by its id; `latest` is the newest.
 *
 * @throws CliError `RUN_UNKNOWN`
 */
export async function findRun(log: EventLog, run: string): Promise<RunState> {
  const state = await readControlState(log);
  const found = run === 'latest' ? state.runs.at(-1) : state.run(run);
  if (found !== undefined) return found;
  throw new CliError('RUN_UNKNOWN', `run "${run}" not found; see "retrace runs"`);
}
