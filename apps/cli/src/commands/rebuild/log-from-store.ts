import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type EventLog, LogError } from '@retrace/log';
import { checkWholeDataFile, type RecordsToWrite, writeLmdbLog } from '@retrace/log/lmdb';
import type { DataDirectory } from '@retrace/process';
import {
  dropOtherLogs,
  isBehindStore,
  migrate,
  readLogFromStore,
  readStoredLogs,
  type StoreClient,
} from '@retrace/store';
import { CliError } from '../../cli-error.js';
import { installation } from '../../installation.js';
import type { CommonOptions } from '../../options.js';
import { openStoreClient } from '../../services/connection.js';
import { locateLog } from '../../data-directory/environment.js';
import { withHeldStore, withOwnSession } from '../../services/own-store.js';
import { type DataDirectoryReport, verifyDataDirectory } from '../../services/verify-data-directory.js';
import { errorsOnly } from '../../supervisor/log-stream.js';
import { withInterrupt } from '../../terminal/with-interrupt.js';

interface LogFromStoreOptions extends CommonOptions {
  /** Id of the log to write, where the store has several. */
  readonly log?: string;
}

interface WrittenLog {
  readonly logId: string;
  readonly numRecords: number;
  /** Rows that do not match their checksum. */
  readonly damagedRows: readonly string[];
  /** Where the log that was there is now; null where there was none. */
  readonly replaced: string | null;
}

/**
 * Writes the log of a data directory again from the rows of its store, keeps what was there, and verifies the result.
 *
 * @throws CliError `SERVICES_IN_USE`, `LOG_UNKNOWN`, `LOG_WHOLE`, `STORE_FAULTY`
 */
export async function writeLogFromStore({ dataDir, json, log: wanted }: LogFromStoreOptions): Promise<void> {
  const store = { dataDir, log: errorsOnly(process.stderr), replacesLog: true };
  const { written, verified } = await withHeldStore(store, async (held) => {
    const written = await withInterrupt((signal) => writeLog(held, wanted, signal), {
      reason: new Error('rebuild: stopped; log and store are unchanged'),
    });
    const verified = await withOwnSession(held, async (session) => {
      await dropOtherLogs(session.client, written.logId);
      await session.catchUp();
      return verifyDataDirectory(session);
    });
    return { written, verified };
  });
  print({ written, verified }, json === true);
  if (verified.numFaults > 0) {
    throw new CliError(
      'STORE_FAULTY',
      `the log is written; verify found ${verified.numFaults} faults, listed above`,
    );
  }
}

async function writeLog(
  { directory, storeUrl }: { readonly directory: DataDirectory; readonly storeUrl: string },
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<WrittenLog> {
  const client = await openStoreClient(directory, { storeUrl });
  try {
    await migrate(client, { directory: installation.migrations });
    const logId = await chooseLog(client, wanted);
    await refuseWholeLog(directory, client, logId);
    const damagedRows: string[] = [];
    let numRecords = 0;
    async function* counted(): AsyncGenerator<RecordsToWrite> {
      const onDamagedRow = (where: string) => damagedRows.push(where);
      for await (const batch of readLogFromStore({ client, logId, onDamagedRow, signal })) {
        numRecords += batch.records.length;
        yield batch;
      }
    }
    const fresh = `${directory.log}.new`;
    await rm(fresh, { recursive: true, force: true });
    await writeLmdbLog(fresh, counted());
    return { logId, numRecords, damagedRows, replaced: await replaceLog(directory, fresh) };
  } finally {
    await client.close();
  }
}

/** Puts the fresh log in place; returns where the other one is now. A kill in between leaves no log, which the next call mends. */
async function replaceLog(directory: DataDirectory, fresh: string): Promise<string | null> {
  const replaced = existsSync(join(directory.log, 'data.mdb'))
    ? `${directory.log}.replaced-${new Date().toISOString().replaceAll(':', '-')}`
    : null;
  if (replaced === null) await rm(directory.log, { recursive: true, force: true });
  else await rename(directory.log, replaced);
  await rename(fresh, directory.log);
  return replaced;
}

async function chooseLog(client: StoreClient, wanted: string | undefined): Promise<string> {
  const logs = await readStoredLogs(client);
  const listed = logs
    .map(({ logId, numEvents }) => `${logId} (${numEvents.toLocaleString('en')})`)
    .join(', ');
  const found = wanted === undefined ? logs : logs.filter(({ logId }) => logId === wanted);
  if (found.length === 1) return found[0].logId;
  const rule =
    logs.length === 0
      ? 'the store has no events, so no log can be written from it'
      : `the store has events of ${listed}; name one with --log. Rows of other logs are removed: export their runs first`;
  throw new CliError('LOG_UNKNOWN', `rebuild --log-from-store: ${rule}`);
}

/** @throws CliError `LOG_WHOLE` when the log that is there is this one, undamaged, and has all that the store has */
async function refuseWholeLog(directory: DataDirectory, client: StoreClient, logId: string): Promise<void> {
  const log = await openUndamaged(directory);
  if (log === null) return;
  try {
    if (log.logId !== logId || (await isBehindStore(log, client))) return;
  } finally {
    await log.close();
  }
  throw new CliError(
    'LOG_WHOLE',
    `rebuild --log-from-store: the log at ${directory.log} is undamaged and has all that the store has; nothing was changed`,
  );
}

async function openUndamaged(directory: DataDirectory): Promise<EventLog | null> {
  const { openLog } = await import('@retrace/log');
  try {
    checkWholeDataFile(directory.log);
    return await openLog(locateLog(directory), 'rebuild');
  } catch (error) {
    if (error instanceof LogError) return null;
    throw error;
  }
}

function print(
  { written, verified }: { readonly written: WrittenLog; readonly verified: DataDirectoryReport },
  isJson: boolean,
): void {
  if (isJson) {
    console.log(JSON.stringify({ ...written, verified }, null, 2));
    return;
  }
  const { logId, numRecords, damagedRows, replaced } = written;
  console.log(
    `log ${logId} is written: ${numRecords.toLocaleString('en')} records, all that the store had of it`,
  );
  if (replaced !== null)
    console.log(`the log that was there is now ${replaced}; remove it when nothing in it is missing`);
  for (const where of damagedRows)
    console.log(`${where}: the row is damaged, so the record is not in the log`);
  console.log(verified.lines.join('\n'));
}
