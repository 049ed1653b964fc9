import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import { hideRows } from '../schema/hide-rows.js';
import { WATERMARK_KIND } from '../rows/event-rows.js';

/** A log, and what the store has of it. */
export interface StoredLog {
  readonly logId: string;
  readonly numEvents: number;
}

/** Every log leaves these rows, also one without any content. */
const WITHOUT_CONTENT = `kind IN ('LogOpened', '${WATERMARK_KIND}')`;

const STORED_LOGS = `
  SELECT log_id AS logId, countIf(NOT ${WITHOUT_CONTENT}) AS numEvents
  FROM events GROUP BY log_id HAVING numEvents > 0 ORDER BY numEvents DESC`;

/** Reads which logs the store has events of, the largest first. */
export function readStoredLogs(client: StoreClient): Promise<StoredLog[]> {
  return client.queryRows<StoredLog>(STORED_LOGS);
}

/** Reads which logs beside this one the store has events of. There are some where a log was lost, or the store is another log's. */
export async function readOtherLogs(client: StoreClient, logId: string): Promise<StoredLog[]> {
  return (await readStoredLogs(client)).filter((log) => log.logId !== logId);
}

/** Says what rows of another log mean, and what to do. */
export function describeOtherLog({ logId, numEvents }: StoredLog, thisLogId: string): string {
  return (
    `the store has ${numEvents.toLocaleString('en')} events of log ${logId}, and the log is ${thisLogId}: it was lost or replaced, or this is another's store. ` +
    'Restore the log, or write it again from the store (`retrace rebuild --log-from-store`), or drop what the log lacks (`retrace rebuild --accept-other-log`)'
  );
}

/**
 * Refuses a store that has events of another log. A store without tables has none.
 *
 * @throws StoreError `STORE_OF_OTHER_LOG`
 */
export async function refuseOtherLogs(client: StoreClient, logId: string): Promise<void> {
  const [{ numTables }] = await client.queryRows<{ numTables: number }>(
    "SELECT count() AS numTables FROM system.tables WHERE database = currentDatabase() AND name = 'events'",
  );
  const [other] = numTables === 0 ? [] : await readOtherLogs(client, logId);
  if (other === undefined) return;
  const message = `${describeOtherLog(other, logId)}; with --accept-other-log both are kept`;
  throw new StoreError('STORE_OF_OTHER_LOG', message);
}

/** Deletes the rows of all logs but one. */
export async function dropOtherLogs(client: StoreClient, logId: string): Promise<void> {
  await hideRows(client, { table: 'events', where: 'log_id != {logId:String}', params: { logId } });
}
