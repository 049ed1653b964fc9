import { readControlState } from '@retrace/log';
import { deleteRun, hasTraces } from '@retrace/runs/delete';
import { checkRunFile, importRun, RunFileError, readRunHashes } from '@retrace/store';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { openCheckpoints } from '../../services/checkpoints.js';
import { counted } from '../../terminal/counted.js';

/**
 * Imports the run of a file and prints how much came out of it.
 *
 * @throws CliError `IMPORT_DIFFERS`; RunFileError `RUN_EXISTS` and what `checkRunFile` throws, before anything has changed
 */
export async function importRunFromFile(path: string, { dataDir, json }: CommonOptions): Promise<void> {
  const report = await withStore({ dataDir, create: true }, (session) => importInto(session, path));
  const { runId, numEvents, numCheckpointFiles, rowHash, isIdentical } = report;
  if (json === true) console.log(JSON.stringify(report));
  else {
    console.log(
      `run ${runId}: imported ${counted(numEvents, 'event')} and ${counted(numCheckpointFiles, 'checkpoint file')}, ` +
        `row hash ${rowHash ?? 'unknown'}${isIdentical === true ? ', identical to the exported rows' : ''}`,
    );
  }
  if (isIdentical === false) {
    throw new CliError(
      'IMPORT_DIFFERS',
      `run ${runId}: its rows differ from those that were exported; another version of Retrace may have written them, see "retrace verify"`,
    );
  }
}

interface ImportReport {
  readonly runId: string;
  readonly numEvents: number;
  readonly numCheckpointFiles: number;
  /** Of the run in this store. */
  readonly rowHash: string | null;
  /** Whether the imported rows equal the exported ones; null where the file has no hash. */
  readonly isIdentical: boolean | null;
}

/** Appends the run to the session's log and brings it into the store. */
async function importInto(session: StoreSession, path: string): Promise<ImportReport> {
  const { log, client, directory } = session;
  const end = await checkRunFile(path);
  const { runId, numEvents, numCheckpointFiles } = end;
  if ((await readControlState(log)).run(runId) !== undefined) {
    throw new RunFileError(
      'RUN_EXISTS',
      `Run ${runId} of ${path} is in this log already; delete it first to import it again`,
    );
  }
  const files = openCheckpoints(directory);
  await session.catchUp();
  if (await hasTraces(client, runId)) {
    // An earlier import was cut short: its rows have no start event, so no command lists that run.
    await deleteRun(
      { ...session, checkpoints: files },
      { runId, force: true, detail: 'an import was cut short' },
    );
  }
  await importRun({ log, path, writeCheckpoint: (bytes) => files.write(bytes) });
  await session.catchUp();
  const rowHash = (await readRunHashes(client, { runId }))[0]?.rowHash ?? null;
  const isIdentical = end.rowHash === null ? null : end.rowHash === rowHash;
  return { runId, numEvents, numCheckpointFiles, rowHash, isIdentical };
}
