import { readControlState, type EventLog } from '@retrace/log';
import type { CheckpointFiles } from '@retrace/policy';
import { deleteRunRecords, type DeleteRunReport, type StoreClient } from '@retrace/store';
import { listCheckpointFiles } from '../checkpoints/run-files.js';
import { unknownRun } from '../choose/select-run.js';
import { RunsError } from '../runs-error.js';

/** Log, store and checkpoints that runs and episodes are deleted from. */
export interface DeletionSession {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly checkpoints: CheckpointFiles;
  /** Whether others may write to the log meanwhile, ... */
  readonly hasOtherWriters: boolean;
  /** ... and whether a server is one of them. */
  readonly isLive: boolean;
  /** Brings the store up to date with the log; waits for the sink where another one runs. */
  catchUp(): Promise<void>;
}

export interface RunDeletion extends DeleteRunReport {
  readonly numCheckpointFiles: number;
}

interface RunRequest {
  readonly runId: string;
  /** Deletes the run even if other runs depend on it. */
  readonly force: boolean;
  /** The reason in words, which the log records. */
  readonly detail: string;
}

/**
 * Deletes a run, in this order: `RunDeleted` in the log, which is the commit; its checkpoint files, while the log still names them; its
 * records in the log; its rows in the store. Calling this again completes a deletion that was cut short after its commit.
 *
 * @throws RunsError `RUN_UNKNOWN`; `RUN_ACTIVE` for an unfinished run while others write to the log; StoreError `RUN_REFERRED_TO`
 */
export async function deleteRun(session: DeletionSession, request: RunRequest): Promise<RunDeletion> {
  const { log, client, checkpoints } = session;
  const { runId } = request;
  await session.catchUp();
  const run = (await readControlState(log)).run(runId);
  if (run === undefined && !(await hasTraces(client, runId))) throw unknownRun(runId);
  if (run !== undefined && run.ended === null && session.hasOtherWriters) {
    const rule = session.isLive
      ? 'a server is running; stop the server first'
      : 'a command that joined a server still writes; stop that first';
    throw new RunsError('RUN_ACTIVE', `run ${runId} has not ended and ${rule}`);
  }
  let numCheckpointFiles = 0;
  const report = await deleteRunRecords({
    ...request,
    log,
    client,
    bringUpToDate: () => session.catchUp(),
    onCommitted: async () => {
      numCheckpointFiles = await removeCheckpoints(log, checkpoints, runId);
    },
  });
  return { ...report, numCheckpointFiles };
}

/** Whether the store has rows of the run. They may lack a start event, after a deletion or import that was cut short. */
export async function hasTraces(client: StoreClient, runId: string): Promise<boolean> {
  const [{ n }] = await client.queryRows<{ n: number }>(
    "SELECT count() AS n FROM events WHERE run_id = {runId:String} AND kind NOT IN ('RunDeleted', 'EpisodesDeleted')",
    { params: { runId } },
  );
  return n > 0;
}

/** Removes the run's checkpoint files, except those that events of other runs name. */
async function removeCheckpoints(
  log: EventLog,
  checkpoints: CheckpointFiles,
  runId: string,
): Promise<number> {
  const byRun = await listCheckpointFiles(log);
  const own = byRun.get(runId) ?? new Map<string, unknown>();
  byRun.delete(runId);
  const present = new Set((await checkpoints.list()).map(({ sha256 }) => sha256));
  const unneeded = [...own.keys()].filter(
    (sha256) => present.has(sha256) && ![...byRun.values()].some((others) => others.has(sha256)),
  );
  for (const sha256 of unneeded) await checkpoints.remove(sha256);
  return unneeded.length;
}
