import { createStoreClient, rebuildStore, type RebuildReport } from '@retrace/store';
import { installation } from '../../installation.js';
import type { CommonOptions } from '../../options.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { findRunId } from '../../run/find-run.js';
import { renderTable } from '../../terminal/table.js';
import { withInterrupt } from '../../terminal/with-interrupt.js';

/** Copying or hashing a large store is a single statement, which may take hours. */
const REQUEST_TIMEOUT_MS = 24 * 3_600_000;

interface RebuildOptions extends CommonOptions {
  readonly run?: string;
  readonly acceptOtherLog?: true;
}

/** Rebuilds the store from the log and prints each run's row hash before and after. */
export async function rebuild(options: RebuildOptions): Promise<void> {
  const { dataDir, json } = options;
  const report = await withStore({ dataDir, upToDate: false }, (session) => rebuildFrom(session, options));
  if (json === true) console.log(JSON.stringify(report, null, 2));
  else printRebuild(report);
}

/** Rebuilds the session's store; Ctrl-C before the new rows are in place leaves it as it was. */
async function rebuildFrom(
  { client: current, directory, storeUrl, log }: StoreSession,
  { run, acceptOtherLog }: RebuildOptions,
): Promise<RebuildReport> {
  const runId = run === undefined ? undefined : await findRunId(log, run);
  const { user, password } = directory.credentials();
  const openClient = (database: string) =>
    createStoreClient({
      url: storeUrl,
      username: user,
      password,
      database,
      cluster: current.layout.cluster,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
  const client = openClient('default');
  const migrations = { directory: installation.migrations };
  const parts = { log, client, openClient, migrations, acceptsOtherLogs: acceptOtherLog === true };
  try {
    return await withInterrupt(
      (signal) => rebuildStore({ ...parts, signal, ...(runId !== undefined && { runId }) }),
      { reason: new Error('rebuild: stopped; the store is unchanged') },
    );
  } finally {
    await client.close();
  }
}

function printRebuild({ before, after, numRowsProjected, projectingMs }: RebuildReport): void {
  const hashBefore = new Map(before?.map(({ runId, rowHash }) => [runId, rowHash]));
  const rows = after.map(({ runId, numRows, rowHash }) => [
    runId === '' ? '(no run)' : runId,
    numRows,
    hashBefore.get(runId) ?? null,
    rowHash,
    hashBefore.get(runId) === rowHash ? 'identical' : 'changed',
  ]);
  console.log(renderTable(['run', 'rows', 'row hash before', 'row hash now', 'result'], rows));
  if (before === null) console.log('the previous rows could not be read');
  for (const { runId } of before ?? []) {
    if (after.every((run) => run.runId !== runId)) {
      console.log(`run ${runId} is not in the log; its rows were removed`);
    }
  }
  const rate = Math.round((1000 * numRowsProjected) / projectingMs);
  console.log(
    `projected ${numRowsProjected.toLocaleString('en')} rows in ${(projectingMs / 1000).toFixed(1)} s, ${rate.toLocaleString('en')} rows/s`,
  );
}
