import type { Stream } from '@retrace/trajectory';

/** A record as it lies in the log: bytes at an offset of one stream partition. */
export interface LogRecord {
  /** 0, 1, 2 … per (stream, partition); gaps may exist, order never changes. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface ReadOptions {
  /** Most records returned (default 10,000). */
  readonly maxRecords?: number;
  /** Stop after the record with which the total reaches this size (default 8 MiB); at least one record is returned if there is one. */
  readonly maxBytes?: number;
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

/** What `maxEventBytes` of a log is by default: 8 MiB. */
export const DEFAULT_MAX_EVENT_BYTES = 8 * 1024 * 1024;

/**
 * The event log port.
 *
 * Duties of an implementer:
 * - `append` resolves only after the records are durable ("acknowledged"); all records of one call land
 *   contiguously, in order, or none does. Rejects with a `LogError`; whether an unacknowledged append landed is unknown.
 *   Calls for one partition land in the order they were made.
 * - Reads see exactly the committed records, in offset order, also those of other processes. Their bytes are the reader's own.
 * - Cursors are advisory positions per group; they never affect what can be read.
 * - Several processes may append and read at once.
 * - Control record 0 is a `LogOpened`, exactly one however many processes open a new log at once.
 * - `close` lets appends under way settle, ends every `follow`, and may be called twice; any later call rejects with
 *   `LOG_CLOSED`.
 *
 * `event-log.contract.ts` tests all of this.
 */
export interface EventLog {
  /** Identity of this log: payload of its first control record (`LogOpened`). */
  readonly logId: string;
  /** Largest record that `append` takes; a larger one rejects with `LOG_RECORD_TOO_LARGE` and nothing of its call lands. */
  readonly maxRecordBytes: number;
  /** Largest episode event that counts: collectors refuse a larger one, and where one lies in the log all the same it is a dead letter. */
  readonly maxEventBytes: number;
  numPartitions(stream: Stream): number;
  /** @param records at least one */
  append(
    stream: Stream,
    partition: number,
    records: readonly Uint8Array[],
  ): Promise<{ readonly firstOffset: number }>;
  /** Records from `fromOffset` on; empty when nothing is there yet. */
  read(stream: Stream, partition: number, fromOffset: number, options?: ReadOptions): Promise<LogRecord[]>;
  /** Offset that the next record will get at the earliest; 0 for an empty partition. */
  endOffset(stream: Stream, partition: number): Promise<number>;
  /** Lowest offset that can still be read (retention moves it). */
  startOffset(stream: Stream, partition: number): Promise<number>;
  /** Batches of new records as they are committed; never an empty batch. */
  follow(
    stream: Stream,
    partition: number,
    fromOffset: number,
    options?: FollowOptions,
  ): AsyncIterable<LogRecord[]>;
  /** Next offset the group wants to read; null when it never committed. */
  readCursor(group: string, stream: Stream, partition: number): Promise<number | null>;
  commitCursor(group: string, stream: Stream, partition: number, nextOffset: number): Promise<void>;
  /** Resolves true once the group's cursor is at `nextOffset` or after it; false when the signal aborts first. */
  cursorReached(
    group: string,
    stream: Stream,
    partition: number,
    nextOffset: number,
    signal?: AbortSignal,
  ): Promise<boolean>;
  /**
   * Lets go of records that nobody will read again, as far as the log can: their space serves later appends. Resolves with how many
   * went. Whether a released record can still be read is left open; offsets of the others, `startOffset` and `endOffset` stay as they are.
   * A log that can't let go of single records has no such method.
   *
   * @param ranges ascending, apart from each other
   */
  release?(stream: Stream, partition: number, ranges: readonly OffsetRange[]): Promise<number>;
  close(): Promise<void>;
}
