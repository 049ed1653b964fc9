import { readDeletedRuns, deletedPlaceholder, dropReplacedParts } from '@retrace/store';
import { compactLmdbLog } from '@retrace/log/lmdb';
import { peekEnvelope } from '@retrace/trajectory/codec';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { withHeldStore, withOwnSession } from '../../services/own-store.js';
import { readServices } from '../../services/services.js';
import { errorsOnly } from '../../supervisor/log-stream.js';
import { withInterrupt } from '../../terminal/with-interrupt.js';
import { counted } from '../../terminal/counted.js';

/** Rewrites the log's file without deleted records and free room, drops replaced parts of the store, and prints what that freed. */
export async function compact({ dataDir, json }: CommonOptions): Promise<void> {
  if (readServices(dataDir) !== null) {
    const rule =
      "its topics drop records by their own retention, and ClickHouse replaced parts by the table's old_parts_lifetime";
    throw new CliError('SERVICES_IN_USE', `compact: only for a log in a data directory; on Kafka ${rule}`);
  }
  const report = await withInterrupt(
    (signal) =>
      withHeldStore({ dataDir, log: errorsOnly(process.stderr), replacesLog: true }, async (store) => {
        const deletedRuns = await withOwnSession(store, async ({ client, log, catchUp }) => {
          await catchUp();
          await dropReplacedParts(client, signal);
          return readDeletedRuns(log);
        });
        return compactLmdbLog({
          path: store.directory.log,
          signal,
          atEdge: deletedPlaceholder,
          isDeleted: (stream, partition, { offset, bytes }) => {
            const envelope = peekEnvelope(bytes);
            return envelope !== null && deletedRuns.cover(envelope, stream, partition, offset);
          },
        });
      }),
    { reason: new Error('compact: stopped; the log is unchanged') },
  );
  if (json === true) {
    console.log(JSON.stringify(report));
    return;
  }
  const { numRecords, numDeleted, bytesBefore, bytesAfter } = report;
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  console.log(
    `compacted the log from ${megabytes(bytesBefore)} to ${megabytes(bytesAfter)}: ${counted(numRecords, 'record')}, ` +
      `${numDeleted.toLocaleString('en')} deleted ones left out; the store has no replaced parts`,
  );
}
