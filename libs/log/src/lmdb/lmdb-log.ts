import type { Database } from 'lmdb';
import { TrajectoryError } from '@retrace/trajectory';
import { LogError } from '../log-error.js';
import type { EventLog, FollowOptions, LogRecord, OffsetRange, ReadOptions } from '../event-log.js';
import type { Stream } from '@retrace/trajectory';
import { Doorbell } from './doorbell.js';
import { FollowPace } from './follow-pace.js';
import { GroupCommit } from './group-commit.js';
import { toLogError } from './log-errors.js';
import { MAX_OFFSET, type LmdbEnvironment, type PartitionStore } from './partition-store.js';

const DEFAULT_MAX_RECORDS = 10_000;
const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;

/** LMDB takes values up to 4 GiB; a record this large is a mistake of its writer. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/** Bounds a transaction, and with it how long appends wait. */
const RELEASES_PER_COMMIT = 5_000;

interface Append {
  readonly store: PartitionStore;
  readonly records: readonly Uint8Array[];
}

export interface LmdbLogParts {
  readonly path: string;
  readonly logId: string;
  readonly maxEventBytes: number;
  readonly environment: LmdbEnvironment;
  /** Group cursors, by group, stream and partition. */
  readonly cursors: Database<number, string>;
  readonly partitions: Readonly<Record<Stream, readonly PartitionStore[]>>;
}

/** The event log in one LMDB environment; see `openLmdbLog`. */
export class LmdbLog implements EventLog {
  readonly logId: string;
  readonly maxRecordBytes = MAX_RECORD_BYTES;
  readonly maxEventBytes: number;
  private readonly parts: LmdbLogParts;
  private readonly appends: GroupCommit<Append, number>;
  private readonly doorbell: Doorbell;
  private closed: Promise<void> | null = null;

  constructor(parts: LmdbLogParts) {
    this.logId = parts.logId;
    this.maxEventBytes = parts.maxEventBytes;
    this.parts = parts;
    this.doorbell = new Doorbell(parts.path);
    this.appends = new GroupCommit((group) => this.commit(group));
  }

  numPartitions(stream: Stream): number {
    return this.parts.partitions[stream].length;
  }

  async append(
    stream: Stream,
    partition: number,
    records: readonly Uint8Array[],
  ): Promise<{ readonly firstOffset: number }> {
    const store = this.store(stream, partition);
    if (records.length === 0) {
      throw new TrajectoryError('INVALID_ARGUMENT', 'append got 0 records; must get at least one');
    }
    for (const record of records) {
      if (record.length > MAX_RECORD_BYTES) {
        const message = `record has ${record.length} bytes; must have at most ${MAX_RECORD_BYTES}`;
        throw new LogError('LOG_RECORD_TOO_LARGE', message);
      }
    }
    return { firstOffset: await this.appends.submit({ store, records }) };
  }

  async read(
    stream: Stream,
    partition: number,
    fromOffset: number,
    options: ReadOptions = {},
  ): Promise<LogRecord[]> {
    return this.readNow(this.store(stream, partition), fromOffset, options);
  }

  async endOffset(stream: Stream, partition: number): Promise<number> {
    return this.fresh(this.store(stream, partition)).endOffset();
  }

  async startOffset(stream: Stream, partition: number): Promise<number> {
    return this.fresh(this.store(stream, partition)).startOffset();
  }

  async *follow(
    stream: Stream,
    partition: number,
    fromOffset: number,
    options: FollowOptions = {},
  ): AsyncGenerator<LogRecord[], void, undefined> {
    const store = this.store(stream, partition);
    const pace = new FollowPace(this.doorbell);
    let nextOffset = fromOffset;
    while (this.closed === null && !options.signal?.aborted) {
      const records = this.readNow(store, nextOffset, options);
      if (records.length > 0) {
        nextOffset = records[records.length - 1].offset + 1;
        pace.foundRecords();
        yield records;
      } else {
        await pace.pause(options.signal);
      }
    }
  }

  async readCursor(group: string, stream: Stream, partition: number): Promise<number | null> {
    this.fresh(this.store(stream, partition));
    return this.parts.cursors.get(cursorKey(group, stream, partition)) ?? null;
  }

  async commitCursor(group: string, stream: Stream, partition: number, nextOffset: number): Promise<void> {
    this.store(stream, partition);
    requireOffset('nextOffset', nextOffset);
    try {
      await this.parts.cursors.put(cursorKey(group, stream, partition), nextOffset);
      this.doorbell.ring();
    } catch (error) {
      throw await toLogError('commitCursor', this.parts.path, error);
    }
  }

  async cursorReached(
    group: string,
    stream: Stream,
    partition: number,
    nextOffset: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    requireOffset('nextOffset', nextOffset);
    const pace = new FollowPace(this.doorbell);
    while (!signal?.aborted) {
      const cursor = await this.readCursor(group, stream, partition);
      if (cursor !== null && cursor >= nextOffset) return true;
      await pace.pause(signal);
    }
    return false;
  }

  /** All but the first and the last record of a partition can go. The file keeps its size; later appends fill what became free. */
  async release(stream: Stream, partition: number, ranges: readonly OffsetRange[]): Promise<number> {
    const store = this.store(stream, partition);
    let numReleased = 0;
    try {
      for (const range of ranges) {
        for (let from = range.from; from < range.end;) {
          const removed = await this.parts.environment.childTransaction(() =>
            store.remove({ from, end: range.end }, RELEASES_PER_COMMIT),
          );
          numReleased += removed.numRemoved;
          from = removed.next;
        }
      }
    } catch (error) {
      throw await toLogError('release', this.parts.path, error);
    }
    return numReleased;
  }

  close(): Promise<void> {
    this.closed ??= this.closeOnce();
    return this.closed;
  }

  private async closeOnce(): Promise<void> {
    await this.appends.drain();
    this.doorbell.close();
    await this.parts.environment.close();
  }

  private async commit(group: readonly Append[]): Promise<readonly number[]> {
    try {
      // A child transaction, because only that is rolled back when a write inside it throws.
      const firstOffsets = await this.parts.environment.childTransaction(() =>
        group.map(({ store, records }) => store.append(records)),
      );
      this.doorbell.ring();
      return firstOffsets;
    } catch (error) {
      throw await toLogError('append', this.parts.path, error);
    }
  }

  private readNow(store: PartitionStore, fromOffset: number, options: ReadOptions): LogRecord[] {
    requireOffset('fromOffset', fromOffset);
    const { maxRecords = DEFAULT_MAX_RECORDS, maxBytes = DEFAULT_MAX_BYTES } = options;
    return this.fresh(store).read(fromOffset, { maxRecords, maxBytes });
  }

  /** The store as of now: a read transaction that is still open would show the past of other processes. */
  private fresh(store: PartitionStore): PartitionStore {
    this.parts.environment.resetReadTxn();
    return store;
  }

  private store(stream: Stream, partition: number): PartitionStore {
    if (this.closed !== null) {
      throw new LogError('LOG_CLOSED', `the event log at ${this.parts.path} is closed`);
    }
    const stores = this.parts.partitions[stream];
    if (!Object.hasOwn(stores, partition)) {
      const message = `partition of stream ${stream} is ${partition}; must be an integer from 0 to ${stores.length - 1}`;
      throw new LogError('LOG_UNKNOWN_PARTITION', message);
    }
    return stores[partition];
  }
}

function cursorKey(group: string, stream: Stream, partition: number): string {
  return `${stream}/${partition}/${group}`;
}

function requireOffset(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 0 || value > MAX_OFFSET) {
    throw new TrajectoryError(
      'INVALID_ARGUMENT',
      `${name} is ${value}; must be an integer from 0 to ${MAX_OFFSET}`,
    );
  }
}
