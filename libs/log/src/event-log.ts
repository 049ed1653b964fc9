import type { Stream } from '@retrace/trajectory';

/** A record of the log: bytes at an offset of one partition of a stream. */
export interface LogRecord {
  /** 0, 1, 2 … in each partition, possibly with gaps; the order never changes. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface ReadOptions {
  /** Largest number of records to return (default 10,000). */
  readonly maxRecords?: number;
  /** Stops after the record with which the total reaches this size (default 8 MiB), so at least one record is returned if one exists. */
  readonly maxBytes?: number;
}

/** Records for one partition of a stream, at least one. */
export interface PartitionRecords {
  readonly stream: Stream;
  readonly partition: number;
  readonly records: readonly Uint8Array[];
}

/** The next offset that a group will read of a partition. */
export interface GroupCursor {
  readonly group: string;
  readonly stream: Stream;
  readonly partition: number;
  readonly nextOffset: number;
}

/** Offsets from `from` to `end` − 1. */
export interface OffsetRange {
  readonly from: number;
  readonly end: number;
}

export interface FollowOptions extends ReadOptions {
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal;
}

/** Default of `maxEventBytes`: 8 MiB. */
export const DEFAULT_MAX_EVENT_BYTES = 8 * 1024 * 1024;

/**
 * The event log port.
 *
 * Duties of an implementer:
 * - `append` resolves only after the records are durable ("acknowledged"); all records of one call land
 *   contiguously, in order, or none does. Rejects with a `LogError`; whether an unacknowledged append landed is unknown.
 *   Calls for one partition land in the order they were made.
 * - `appendInStages` resolves after all its records are durable; a stage lands only behind those before it, and not at all where one of them
 *   failed. A log that can make one transaction of them does.
 * - Reads return exactly the committed records, in offset order, including those of other processes. The caller owns their bytes.
 * - Cursors are advisory positions per group; they never affect what can be read.
 * - Several processes may append and read at once.
 * - Control record 0 is a `LogOpened`, exactly one however many processes open a new log at once.
 * - `close` lets appends under way settle, ends every `follow`, and may be called twice; any later call rejects with
 *   `LOG_CLOSED`.
 *
 * `contract/event-log.contract.ts` tests these duties.
 */
export interface EventLog {
  /** Identity of this log: payload of its first control record (`LogOpened`). */
  readonly logId: string;
  /** Largest record that `append` takes; a larger one rejects with `LOG_RECORD_TOO_LARGE` and nothing of its call lands. */
  readonly maxRecordBytes: number;
  /** Largest episode event that is accepted: collectors refuse a larger one, and readers treat one in the log as a dead letter. */
  readonly maxEventBytes: number;
  numPartitions(stream: Stream): number;
  /** @param records at least one */
  append(
    stream: Stream,
    partition: number,
    records: readonly Uint8Array[],
  ): Promise<{ readonly firstOffset: number }>;
  /** @param cursors are committed too: in the same transaction where there is one, else perhaps a little later; where that fails, nobody is told */
  appendInStages(
    stages: readonly (readonly PartitionRecords[])[],
    cursors?: readonly GroupCursor[],
  ): Promise<void>;
  /** Returns records from `fromOffset` on; none if no record is there yet. */
  read(stream: Stream, partition: number, fromOffset: number, options?: ReadOptions): Promise<LogRecord[]>;
  /** Returns the lowest offset that the next record can get; 0 for an empty partition. */
  endOffset(stream: Stream, partition: number): Promise<number>;
  /** Returns the lowest offset that can still be read; retention raises it. */
  startOffset(stream: Stream, partition: number): Promise<number>;
  /** Yields batches of records from `fromOffset` on, as they are committed, never an empty batch. */
  follow(
    stream: Stream,
    partition: number,
    fromOffset: number,
    options?: FollowOptions,
  ): AsyncIterable<LogRecord[]>;
  /** Returns the next offset that the group will read; null if it has committed none. */
  readCursor(group: string, stream: Stream, partition: number): Promise<number | null>;
  commitCursor(group: string, stream: Stream, partition: number, nextOffset: number): Promise<void>;
  /** Resolves true once the group's cursor is at least `nextOffset`; false if the signal aborts first. */
  cursorReached(
    group: string,
    stream: Stream,
    partition: number,
    nextOffset: number,
    signal?: AbortSignal,
  ): Promise<boolean>;
  /**
   * Releases the space of records that nobody will read again, as far as the log can, and returns how many it released. A released record may
   * or may not be readable. Other records keep their offsets; `startOffset` and `endOffset` don't change. A log that can't release single
   * records lacks this method.
   *
   * @param ranges ascending and disjoint
   * @param atEdge what the first and the last record of the partition become where a range holds them, as they mark its ends and so must
   *   stay (default: they stay as they are)
   */
  release?(
    stream: Stream,
    partition: number,
    ranges: readonly OffsetRange[],
    atEdge?: (record: LogRecord) => Uint8Array,
  ): Promise<number>;
  close(): Promise<void>;
}
