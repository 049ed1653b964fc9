import type { Stream } from '@retrace/trajectory';
import type { LogRecord } from '../event-log.js';
import { openEnvironment } from './open-environment.js';
import { toLogError } from './log-errors.js';
import { PartitionStore } from './partition-store.js';

/** Records of one stream partition, with ascending offsets that may leave some out. */
export interface RecordsToWrite {
  readonly stream: Stream;
  readonly partition: number;
  readonly records: readonly LogRecord[];
}

/**
 * Writes a log of records that have their offsets, among them the `LogOpened` at offset 0 of `control`, into a directory without one. When it
 * resolves all of them are on disk.
 *
 * @param path directory of the new log
 * @throws LogError `LOG_NOT_WRITABLE`, `LOG_DISK_FULL`; what `batches` throws
 */
export async function writeLmdbLog(path: string, batches: AsyncIterable<RecordsToWrite>): Promise<void> {
  const environment = openEnvironment(path);
  const stores = new Map<string, PartitionStore>();
  try {
    for await (const { stream, partition, records } of batches) {
      const name = `${stream}/${partition}`;
      const store = stores.get(name) ?? new PartitionStore(environment, { path, stream, partition });
      stores.set(name, store);
      await environment.transaction(() => {
        for (const record of records) store.put(record);
      });
    }
  } catch (error) {
    throw await toLogError('writing', path, error);
  } finally {
    await environment.close();
  }
}
