import { readControlState, type EventLog } from '@retrace/log';
import { selectRun, type RunNeeds } from '@retrace/runs';
import { isUuid, type RunState } from '@retrace/trajectory';
import { sayChosenRun } from './said-runs.js';

/** Finds a run in a log, as `selectRun` does, and says which run a part of an id or `latest` stands for. */
export async function findRun(log: EventLog, wanted: string, needs?: RunNeeds): Promise<RunState> {
  return selectRun((await readControlState(log)).runs, wanted, { needs, onChosen: sayChosenRun });
}

/** The id of a run, found as `findRun` does. A whole id counts even where the log has no start of that run, as after a failed import. */
export async function findRunId(log: EventLog, wanted: string): Promise<string> {
  return isUuid(wanted) ? wanted : (await findRun(log, wanted)).runId;
}
