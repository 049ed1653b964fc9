import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stream } from '@retrace/trajectory';
import type { LogRecord } from '../event-log.js';
import { decodeLogOpened } from '../log-opened.js';
import { toLogError } from './log-errors.js';
import { openEnvironment } from './open-environment.js';
import { type LmdbEnvironment, PartitionStore } from './partition-store.js';
import { type RecordsToWrite, writeLmdbLog } from './write-lmdb-log.js';

export interface CompactLmdbLog {
  /** Directory of the log. No process may have it open. */
  readonly path: string;
  /** Whether the new file leaves a record out. */
  readonly isDeleted: (stream: Stream, partition: number, record: LogRecord) => boolean;
  /** Makes the record that takes the place of a deleted one that is the first or last of its partition, and so must stay. */
  readonly atEdge: (record: LogRecord) => Uint8Array;
  readonly signal?: AbortSignal;
}

export interface CompactReport {
  readonly numRecords: number;
  /** Records that were left out or replaced. */
  readonly numDeleted: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

const DATA_FILE = 'data.mdb';
const SLICE = { maxRecords: 5_000, maxBytes: 8 * 1024 * 1024 };

/**
 * Writes the log into a new file that takes the place of the old one, without deleted records and without whatever was left in free space.
 * Offsets and cursors stay. Needs room for both files; when it fails, the log is as it was.
 *
 * @throws LogError `LOG_CORRUPT`, `LOG_NOT_WRITABLE`, `LOG_DISK_FULL`; the reason of `signal` when it aborts
 */
export async function compactLmdbLog(job: CompactLmdbLog): Promise<CompactReport> {
  const { path } = job;
  const target = `${path}.compacting`;
  const counts = { numRecords: 0, numDeleted: 0 };
  const bytesBefore = (await stat(join(path, DATA_FILE))).size;
  await rm(target, { recursive: true, force: true });
  const source = openEnvironment(path);
  try {
    await writeLmdbLog(target, remainingRecords(source, job, counts));
    await copyCursors(source, target);
  } catch (error) {
    await rm(target, { recursive: true, force: true });
    throw error;
  } finally {
    await source.close();
  }
  try {
    const bytesAfter = (await stat(join(target, DATA_FILE))).size;
    await rename(join(target, DATA_FILE), join(path, DATA_FILE));
    // It belongs to the replaced file; the next process makes its own.
    await rm(join(path, 'lock.mdb'), { force: true });
    await syncDirectory(path);
    await rm(target, { recursive: true, force: true });
    return { ...counts, bytesBefore, bytesAfter };
  } catch (error) {
    throw await toLogError('compacting', path, error);
  }
}

async function* remainingRecords(
  source: LmdbEnvironment,
  { path, isDeleted, atEdge, signal }: CompactLmdbLog,
  counts: { numRecords: number; numDeleted: number },
): AsyncGenerator<RecordsToWrite> {
  for (const { stream, partition, store } of listPartitions(source, path)) {
    const [first, end] = [store.startOffset(), store.endOffset()];
    for (let next = first; next < end;) {
      signal?.throwIfAborted();
      const read = store.read(next, SLICE);
      if (read.length === 0) break;
      next = read[read.length - 1].offset + 1;
      const records: LogRecord[] = [];
      for (const record of read) {
        const { offset } = record;
        const isGone = isDeleted(stream, partition, record);
        if (isGone) counts.numDeleted++;
        if (!isGone) records.push(record);
        else if (offset === first || offset === end - 1) records.push({ offset, bytes: atEdge(record) });
      }
      counts.numRecords += records.length;
      yield { stream, partition, records };
      // The reads are synchronous, so this lets other work run in between.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

interface SourcePartition {
  readonly stream: Stream;
  readonly partition: number;
  readonly store: PartitionStore;
}

function listPartitions(source: LmdbEnvironment, path: string): SourcePartition[] {
  const control = new PartitionStore(source, { path, stream: 'control', partition: 0 });
  const opened = decodeLogOpened(control.get(0) ?? new Uint8Array(), `the event log at ${path}`);
  const trajectories = Array.from({ length: opened.payload.partitions.trajectories }, (_, partition) => {
    const store = new PartitionStore(source, { path, stream: 'trajectories', partition });
    return { stream: 'trajectories' as const, partition, store };
  });
  return [{ stream: 'control', partition: 0, store: control }, ...trajectories];
}

async function copyCursors(source: LmdbEnvironment, target: string): Promise<void> {
  const from = source.openDB<number, string>('cursors', { encoding: 'msgpack' });
  const environment = openEnvironment(target);
  try {
    const to = environment.openDB<number, string>('cursors', { encoding: 'msgpack' });
    await environment.transaction(() => {
      for (const { key, value } of from.getRange({})) to.putSync(key, value);
    });
  } finally {
    await environment.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
