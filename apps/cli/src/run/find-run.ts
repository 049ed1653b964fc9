import type { EventLog } from '@retrace/log';
import { isUuid, type RunState } from '@retrace/trajectory';
import { CliError } from '../cli-error.js';
import { readControlState } from '../services/control-state.js';
import { sayChosenRun } from './said-runs.js';

/** Condition on the run that `latest` stands for. */
export interface RunNeeds {
  readonly has: (run: RunState) => boolean;
  /** Completes "no run …", for a message. */
  readonly lacking: string;
}

/** The shortest part of an id that names a run. */
const MIN_PART_LENGTH = 4;
const MAX_CANDIDATES = 10;

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
  const exact = runs.find(({ runId }) => runId === wanted);
  if (exact !== undefined) return exact;
  const isPart = (runId: string) => runId.startsWith(wanted) || runId.endsWith(wanted);
  const found = wanted.length < MIN_PART_LENGTH ? [] : runs.filter(({ runId }) => isPart(runId));
  if (found.length === 1) {
    sayChosenRun(wanted, found[0]);
    return found[0];
  }
  if (found.length === 0) {
    throw new CliError('RUN_UNKNOWN', `run "${wanted}" not found; see "retrace runs"`);
  }
  const candidates = found.slice(-MAX_CANDIDATES).map(({ runId, started: { name } }) => `${runId} (${name})`);
  const others = found.length - candidates.length;
  throw new CliError(
    'RUN_AMBIGUOUS',
    `run "${wanted}" is ambiguous; use more characters of one of ${candidates.join(', ')}${others > 0 ? ` and ${others} more` : ''}`,
  );
}

/** Finds a run in a log, as `selectRun` does. */
export async function findRun(log: EventLog, wanted: string, needs?: RunNeeds): Promise<RunState> {
  return selectRun((await readControlState(log)).runs, wanted, needs);
}

/** The id of a run, found as `selectRun` does. A whole id counts even where the log has no start of that run, as after a failed import. */
export async function findRunId(log: EventLog, wanted: string): Promise<string> {
  return isUuid(wanted) ? wanted : (await findRun(log, wanted)).runId;
}
