import type { EventLog } from '@retrace/log';
import { describeAmbiguousId, findByPartOfId, isUuid, type RunState } from '@retrace/trajectory';
import { CliError } from '../cli-error.js';
import { readControlState } from '../services/control-state.js';
import { sayChosenRun } from './said-runs.js';

/** Condition on the run that `latest` stands for. */
export interface RunNeeds {
  readonly has: (run: RunState) => boolean;
  /** Completes "no run …", for a message. */
  readonly lacking: string;
}

/**
 * Finds a run by its id, or by the beginning or end of it, as pages show the last 8 characters; `latest` is the newest run that has
 * what the command needs. Says which run that is.
 *
 * @param runs from oldest to newest
 * @throws CliError `RUN_UNKNOWN`; `RUN_AMBIGUOUS`, which lists the runs that are meant
 */
export function selectRun(runs: readonly RunState[], wanted: string, needs?: RunNeeds): RunState {
  if (wanted === 'latest') {
    const newest = runs.findLast((run) => needs?.has(run) ?? true);
    if (newest !== undefined) {
      sayChosenRun(wanted, newest);
      return newest;
    }
    throw new CliError(
      'RUN_UNKNOWN',
      `run "latest" not found: no run ${needs?.lacking ?? 'is in this log yet'}; see "retrace runs"`,
    );
  }
  const found = findByPartOfId(runs, wanted, ({ runId }) => runId);
  if (found.kind === 'found') {
    if (found.item.runId !== wanted) sayChosenRun(wanted, found.item);
    return found.item;
  }
  if (found.kind === 'unknown') {
    throw new CliError('RUN_UNKNOWN', `run "${wanted}" not found; see "retrace runs"`);
  }
  const candidates = found.items.map(({ runId, started: { name } }) => `${runId} (${name})`);
  throw new CliError('RUN_AMBIGUOUS', describeAmbiguousId(`run "${wanted}"`, candidates));
}

/** Finds a run in a log, as `selectRun` does. */
export async function findRun(log: EventLog, wanted: string, needs?: RunNeeds): Promise<RunState> {
  return selectRun((await readControlState(log)).runs, wanted, needs);
}

/** The id of a run, found as `selectRun` does. A whole id counts even where the log has no start of that run, as after a failed import. */
export async function findRunId(log: EventLog, wanted: string): Promise<string> {
  return isUuid(wanted) ? wanted : (await findRun(log, wanted)).runId;
}
