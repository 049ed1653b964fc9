import { deleteRun, type DeleteReport } from '@retrace/store';
import { CliError } from '../cli-error.js';
import { readControlState } from '../services/control-state.js';
import type { StoreSession } from '../services/connection.js';
import { checkpointFilesOf } from './run-checkpoints.js';
import { checkpointsOf } from '../services/checkpoints.js';

interface DeletedRun extends DeleteReport {
  readonly numCheckpointFiles: number;
}

interface DeletionRequest {
  readonly runId: string;
  readonly force: boolean;
  readonly detail: string;
}

/**
 * Deletes a run from log, store and checkpoint directory.
 *
 * @throws CliError `RUN_UNKNOWN`; `RUN_ACTIVE` for an unfinished run while others write to the log; StoreError `RUN_REFERRED_TO`
 */
export async function deleteRunOf(
  session: StoreSession,
  { runId, force, detail }: DeletionRequest,
): Promise<DeletedRun> {
  await session.catchUp();
  const run = (await readControlState(session.log)).run(runId);
  if (run === undefined && !(await hasTraces(session, runId))) {
    throw new CliError('RUN_UNKNOWN', `run "${runId}" not found; see "retrace runs"`);
  }
  if (run !== undefined && run.ended === null && session.hasOtherWriters) {
    const rule = session.isLive
      ? 'a server is running; stop the server first'
      : 'a command that joined a server still writes; stop that first';
    throw new CliError('RUN_ACTIVE', `run ${runId} has not ended and ${rule}`);
  }
  let numCheckpointFiles = 0;
  const report = await deleteRun({
    log: session.log,
    client: session.client,
    runId,
    force,
    detail,
    bringUpToDate: () => session.catchUp(),
    onCommitted: async () => {
      numCheckpointFiles = await removeCheckpoints(session, runId);
    },
  });
  return { ...report, numCheckpointFiles };
}

/** Whether the store has rows of the run. They may lack a start event, after a deletion or import that was cut short. */
export async function hasTraces({ client }: StoreSession, runId: string): Promise<boolean> {
  const [{ n }] = await client.queryRows<{ n: number }>(
    "SELECT count() AS n FROM events WHERE run_id = {runId:String} AND kind NOT IN ('RunDeleted', 'EpisodesDeleted')",
    { params: { runId } },
  );
  return n > 0;
}

/** Removes the run's checkpoint files, except those that events of other runs name. */
async function removeCheckpoints({ log, directory }: StoreSession, runId: string): Promise<number> {
  const byRun = await checkpointFilesOf(log);
  const own = byRun.get(runId) ?? new Map<string, unknown>();
  byRun.delete(runId);
  const files = checkpointsOf(directory);
  const present = new Set((await files.list()).map(({ sha256 }) => sha256));
  const unneeded = [...own.keys()].filter(
    (sha256) => present.has(sha256) && ![...byRun.values()].some((others) => others.has(sha256)),
  );
  for (const sha256 of unneeded) await files.remove(sha256);
  return unneeded.length;
}
