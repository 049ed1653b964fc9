import { CheckpointFiles } from '@retrace/policy';
import type { RunState } from '@retrace/trajectory';
import { deleteRun, StoreError, type DeleteReport } from '@retrace/store';
import { ControlTail } from '@retrace/log';
import { CliError } from '../cli-error.js';
import type { StoreSession } from '../services/connection.js';
import { checkpointFilesOf } from './run-checkpoints.js';

export interface DeletedRun extends DeleteReport {
  readonly numCheckpointFiles: number;
}

export interface DeletionRequest {
  readonly runId: string;
  readonly force: boolean;
  readonly detail: string;
}

/**
 * Takes a run out of log, store and checkpoint directory.
 *
 * @throws CliError `RUN_UNKNOWN`; `RUN_ACTIVE` for one that a running server may go on with; StoreError `RUN_REFERRED_TO`
 */
export async function deleteRunOf(
  session: StoreSession,
  { runId, force, detail }: DeletionRequest,
): Promise<DeletedRun> {
  await session.catchUp();
  const run = (await readRuns(session)).find((each) => each.runId === runId);
  if (run === undefined && !(await hasTraces(session, runId))) {
    throw new CliError('RUN_UNKNOWN', `run ${runId}: no such run here; see "retrace runs"`);
  }
  if (run !== undefined && run.ended === null && session.isLive) {
    throw new CliError(
      'RUN_ACTIVE',
      `run ${runId}: it has not ended and a server runs; stop the server first`,
    );
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

export interface RetentionRequest {
  /** Runs whose last event is older than this, in milliseconds since the Unix epoch. */
  readonly beforeMs: number;
  readonly dryRun: boolean;
  readonly force: boolean;
}

export interface RetentionReport {
  readonly deleted: readonly {
    readonly runId: string;
    readonly name: string;
    readonly lastEventAt: string;
  }[];
  /** Old enough, and kept all the same. */
  readonly kept: readonly { readonly runId: string; readonly reason: string }[];
  readonly dryRun: boolean;
}

/**
 * Deletes the runs that had no event for long, younger ones first, so that a run goes before those that its lineage leads to. One that a
 * younger run depends on stays.
 */
export async function applyRetention(
  session: StoreSession,
  { beforeMs, dryRun, force }: RetentionRequest,
): Promise<RetentionReport> {
  await session.catchUp();
  const names = new Map((await readRuns(session)).map((run) => [run.runId, run.started.name]));
  const old = (await readLastEvents(session, beforeMs)).filter(({ runId }) => names.has(runId));
  const describe = ({ runId, lastEventAt }: LastEvent) => ({
    runId,
    lastEventAt,
    name: names.get(runId) ?? '',
  });
  if (dryRun) return { deleted: old.map(describe), kept: [], dryRun };
  if (old.length === 0) return { deleted: [], kept: [], dryRun };

  const detail = `no event since ${new Date(beforeMs).toISOString()}`;
  const control = new ControlTail(session.log);
  const scope = { beforeUs: beforeMs * 1000, runIds: old.map(({ runId }) => runId) };
  await control.append('', { kind: 'RetentionApplied', payload: { scope, detail } });
  control.close();
  const deleted: LastEvent[] = [];
  const kept: { runId: string; reason: string }[] = [];
  for (const each of old) {
    try {
      await deleteRunOf(session, { runId: each.runId, force, detail });
      deleted.push(each);
    } catch (error) {
      const isRefusal =
        (error instanceof StoreError && error.code === 'RUN_REFERRED_TO') || error instanceof CliError;
      if (!isRefusal) throw error;
      kept.push({ runId: each.runId, reason: error.message });
    }
  }
  return { deleted: deleted.map(describe), kept, dryRun };
}

async function readRuns({ log }: StoreSession): Promise<readonly RunState[]> {
  const control = new ControlTail(log);
  await control.catchUp();
  control.close();
  return control.state.runs;
}

/** Rows without a start: of a deletion that was cut short, or of an import. */
export async function hasTraces({ client }: StoreSession, runId: string): Promise<boolean> {
  const [{ n }] = await client.queryRows<{ n: number }>(
    "SELECT count() AS n FROM events WHERE run_id = {runId:String} AND kind != 'RunDeleted'",
    { params: { runId } },
  );
  return n > 0;
}

interface LastEvent {
  readonly runId: string;
  readonly lastEventAt: string;
}

function readLastEvents({ client }: StoreSession, beforeMs: number): Promise<LastEvent[]> {
  return client.queryRows<LastEvent>(
    `SELECT run_id AS runId, toString(max(occurred_at)) AS lastEventAt
     FROM events WHERE run_id != '' AND kind != 'RunDeleted'
     GROUP BY run_id
     HAVING toUnixTimestamp64Micro(max(occurred_at)) < {beforeUs:Int64}
     ORDER BY run_id DESC`,
    { params: { beforeUs: beforeMs * 1000 } },
  );
}

/** Removes the checkpoint files that no other run's events name. */
async function removeCheckpoints({ log, directory }: StoreSession, runId: string): Promise<number> {
  const byRun = await checkpointFilesOf(log);
  const own = byRun.get(runId) ?? new Map<string, unknown>();
  byRun.delete(runId);
  const files = new CheckpointFiles(directory.checkpoints);
  const present = new Set((await files.list()).map(({ sha256 }) => sha256));
  const unneeded = [...own.keys()].filter(
    (sha256) => present.has(sha256) && ![...byRun.values()].some((others) => others.has(sha256)),
  );
  for (const sha256 of unneeded) await files.remove(sha256);
  return unneeded.length;
}
