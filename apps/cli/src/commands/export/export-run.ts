import { CheckpointFiles } from '@retrace/policy';
import { checkRunFile, exportRun, importRun, RunFileError } from '@retrace/store';
import { readDeletedRuns, readRunHashes } from '@retrace/store';
import { ControlTail } from '@retrace/log';
import type { StoreSession } from '../../services/connection.js';
import { deleteRunOf, hasTraces } from '../../run/delete-run.js';
import { checkpointFilesOf } from '../../run/run-checkpoints.js';

export interface ExportRequest {
  readonly runId: string;
  readonly path: string;
  readonly withCheckpoints: boolean;
}

/** What went into a file, or came out of one. */
export interface TransferReport {
  readonly runId: string;
  readonly numEvents: number;
  readonly numCheckpointFiles: number;
  readonly numDeadLetters: number;
  /** Of the run in this store; null while the run goes on. */
  readonly rowHash: string | null;
  /** Whether the imported rows are those that were exported; null where the file does not say. */
  readonly isIdentical: boolean | null;
}

/** Writes a run of the session's log into a file. */
export async function exportRunToFile(
  session: StoreSession,
  { runId, path, withCheckpoints }: ExportRequest,
): Promise<TransferReport> {
  const { log, client, directory } = session;
  await session.catchUp();
  const [before] = await readRunHashes(client, { runId });
  const report = await exportRun({
    log,
    runId,
    path,
    deletedRuns: await readDeletedRuns(log),
    ...(withCheckpoints && { checkpoints: readCheckpoints(log, directory.checkpoints, runId) }),
    // A run that goes on has other rows by the time that its file is whole.
    ...(before !== undefined && (await hasEnded(log, runId)) && { rowHash: before.rowHash }),
  });
  return { ...report, isIdentical: null };
}

/**
 * Appends the run of a file to the session's log and brings it into the store.
 *
 * @throws RunFileError `RUN_EXISTS` and what `checkRunFile` throws: nothing has changed then
 */
export async function importRunFromFile(
  session: StoreSession,
  { path }: { readonly path: string },
): Promise<TransferReport> {
  const { log, client, directory } = session;
  const end = await checkRunFile(path);
  const { runId, numEvents, numCheckpointFiles } = end;
  if ((await foldOf(log)).run(runId) !== undefined) {
    const advice = 'delete it first to import it anew';
    throw new RunFileError('RUN_EXISTS', `Run ${runId} of ${path} is in this log already; ${advice}`);
  }
  await session.catchUp();
  if (await hasTraces(session, runId)) {
    // Of an import that was cut short: it has no start, so nobody else knows of it.
    await deleteRunOf(session, { runId, force: true, detail: 'an import was cut short' });
  }
  const files = new CheckpointFiles(directory.checkpoints);
  await importRun({ log, path, writeCheckpoint: (bytes) => files.write(bytes) });
  await session.catchUp();
  const rowHash = (await readRunHashes(client, { runId }))[0]?.rowHash ?? null;
  const isIdentical = end.rowHash === null ? null : end.rowHash === rowHash;
  return { runId, numEvents, numCheckpointFiles, numDeadLetters: 0, rowHash, isIdentical };
}

async function foldOf(log: StoreSession['log']) {
  const control = new ControlTail(log);
  await control.catchUp();
  control.close();
  return control.state;
}

async function hasEnded(log: StoreSession['log'], runId: string): Promise<boolean> {
  return ((await foldOf(log)).run(runId)?.ended ?? null) !== null;
}

/** The run's files that are there; retention may have removed old optimizer states. */
async function* readCheckpoints(log: StoreSession['log'], checkpoints: string, runId: string) {
  const files = new CheckpointFiles(checkpoints);
  const present = new Set((await files.list()).map(({ sha256 }) => sha256));
  for (const ref of (await checkpointFilesOf(log)).get(runId)?.values() ?? []) {
    if (present.has(ref.sha256)) yield { sha256: ref.sha256, bytes: await files.read(ref) };
  }
}
