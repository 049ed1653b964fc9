import type { Database } from 'lmdb';
import { LogError } from '../log-error.js';
import type {
  EventLog,
  FollowOptions,
  GroupCursor,
  LogRecord,
  OffsetRange,
  PartitionRecords,
  ReadOptions,
} from '../event-log.js';
import type { Stream } from '@retrace/trajectory';
import { checkWholeDataFile } from './data-file/check-data-file.js';
import { Doorbell } from './doorbell.js';
import { FollowPace } from './follow-pace.js';
import { GroupCommit } from '../group-commit.js';
import {
  DEFAULT_MAX_BYTES,
  DEFAULT_MAX_RECORDS,
  MAX_RECORD_BYTES,
  requireOffset,
  requirePartition,
  requireRecords,
} from '../log-arguments.js';
import { CommitFailures } from './commit-failures.js';
import { inSnapshot } from './in-snapshot.js';
import { toLogError } from './log-errors.js';
import { MAX_OFFSET, type LmdbEnvironment, type PartitionStore } from './partition-store.js';

/** Limits the duration of a transaction, during which appends wait. */
const RELEASES_PER_COMMIT = 5_000;

/** Writes within a transaction, and returns what its caller gets. */
type Write = () => number;

interface LmdbLogParts {
  readonly path: string;
  readonly logId: string;
  readonly maxEventBytes: number;
  readonly environment: LmdbEnvironment;
  /** Group cursors, by group, stream and partition. */
  readonly cursors: Database<number, string>;
  readonly partitions: Readonly<Record<Stream, readonly PartitionStore[]>>;
}

/** The event log in one LMDB environment. Opened by `openLmdbLog`. */
export class LmdbLog implements EventLog {
  readonly logId: string;
  readonly maxRecordBytes = MAX_RECORD_BYTES;
  readonly maxEventBytes: number;
  private readonly appends: GroupCommit<Write, number>;
  private readonly doorbell: Doorbell;
  private readonly failures: CommitFailures;
  private closed: Promise<void> | null = null;
  private isWholeChecked = false;

  constructor(private readonly parts: LmdbLogParts) {
    this.logId = parts.logId;
    this.maxEventBytes = parts.maxEventBytes;
    this.doorbell = new Doorbell(parts.path);
    this.failures = new CommitFailures(parts.path);
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
    requireRecords(records);
    return { firstOffset: await this.appends.submit(() => store.append(records)) };
  }

  /** One transaction. */
  async appendInStages(
    stages: readonly (readonly PartitionRecords[])[],
    cursors: readonly GroupCursor[] = [],
  ): Promise<void> {
    const appends = stages.flat().map(({ stream, partition, records }) => {
      requireRecords(records);
      return { store: this.store(stream, partition), records };
    });
    for (const { stream, partition, nextOffset } of cursors) {
      this.store(stream, partition);
      requireOffset('nextOffset', nextOffset, MAX_OFFSET);
    }
    await this.appends.submit(() => {
      for (const { store, records } of appends) store.append(records);
      for (const { group, stream, partition, nextOffset } of cursors)
        this.parts.cursors.putSync(cursorKey(group, stream, partition), nextOffset);
      return 0;
    });
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
    requireOffset('nextOffset', nextOffset, MAX_OFFSET);
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
    requireOffset('nextOffset', nextOffset, MAX_OFFSET);
    const pace = new FollowPace(this.doorbell);
    while (!signal?.aborted) {
      const cursor = await this.readCursor(group, stream, partition);
      if (cursor !== null && cursor >= nextOffset) return true;
      await pace.pause(signal);
    }
    return false;
  }

  /**
   * Removes records, except the first and the last of a partition. The file keeps its size; later appends reuse the space, and until then
   * the file still has the bytes (`compactLmdbLog`).
   */
  async release(
    stream: Stream,
    partition: number,
    ranges: readonly OffsetRange[],
    atEdge?: (record: LogRecord) => Uint8Array,
  ): Promise<number> {
    const store = this.store(stream, partition);
    let numReleased = 0;
    try {
      // A removal may read neighbours of any page.
      if (!this.isWholeChecked)
        inSnapshot(this.parts.environment, () => {
          checkWholeDataFile(this.parts.path);
        });
      this.isWholeChecked = true;
      for (const range of ranges) {
        for (let from = range.from; from < range.end;) {
          const removed = await this.parts.environment.transaction(() =>
            store.remove({ from, end: range.end }, RELEASES_PER_COMMIT),
          );
          numReleased += removed.numRemoved;
          from = removed.next;
        }
        if (atEdge !== undefined)
          await this.parts.environment.transaction(() => store.replaceEdges(range, atEdge));
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

  private async commit(group: readonly Write[]): Promise<readonly number[]> {
    try {
      // A write that fails marks the transaction, so that nothing of it is committed. Nested transactions, which the driver rolls back one
      // by one, seldom ended the process when they were merged (lmdb 3.5.6: "Assertion 'i == x' failed in mdb_txn_commit()").
      const firstOffsets = await this.parts.environment.transaction(() => group.map((write) => write()));
      this.doorbell.ring();
      this.failures.succeeded();
      return firstOffsets;
    } catch (error) {
      const failure = await toLogError('append', this.parts.path, error);
      this.failures.failed(failure);
      throw failure;
    }
  }

  private readNow(store: PartitionStore, fromOffset: number, options: ReadOptions): LogRecord[] {
    requireOffset('fromOffset', fromOffset, MAX_OFFSET);
    const { maxRecords = DEFAULT_MAX_RECORDS, maxBytes = DEFAULT_MAX_BYTES } = options;
    return this.fresh(store).read(fromOffset, { maxRecords, maxBytes });
  }

  /** Returns the store in its current state: an open read transaction would hide later commits of other processes. */
  private fresh(store: PartitionStore): PartitionStore {
    this.parts.environment.resetReadTxn();
    return store;
  }

  private store(stream: Stream, partition: number): PartitionStore {
    if (this.closed !== null) {
      throw new LogError('LOG_CLOSED', `the event log at ${this.parts.path} is closed`);
    }
    return requirePartition(this.parts.partitions, stream, partition);
  }
}

function cursorKey(group: string, stream: Stream, partition: number): string {
  return `${stream}/${partition}/${group}`;
}
