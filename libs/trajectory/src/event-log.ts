import type { Stream } from './events.js';

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

export interface FollowOptions extends ReadOptions {
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal;
}

/**
 * The event log port.
 *
 * Duties of an implementer:
 * - `append` resolves only after the records are durable ("acknowledged"); all records of one call land
 *   contiguously, in order, or none does. Rejects with a `LogError`; whether an unacknowledged append landed is unknown.
 * - Reads see exactly the committed records, in offset order, also those of other processes.
 * - Cursors are advisory positions per group; they never affect what can be read.
 * - Several processes may append and read at once.
 */
export interface EventLog {
  /** Identity of this log: payload of its first control record (`LogOpened`). */
  readonly logId: string;
  numPartitions(stream: Stream): number;
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
  close(): Promise<void>;
}
