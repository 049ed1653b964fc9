import type { Database, RootDatabase } from 'lmdb';
import type { LogRecord, OffsetRange } from '../event-log.js';
import type { Stream } from '@retrace/trajectory';

export type LmdbEnvironment = RootDatabase<Uint8Array, Uint8Array>;

const KEY_BYTES = 6;

/** Largest offset that a key can hold. */
export const MAX_OFFSET = 2 ** (8 * KEY_BYTES) - 1;

const LAST_KEY = Buffer.alloc(KEY_BYTES, 0xff);

export interface ReadLimits {
  readonly maxRecords: number;
  readonly maxBytes: number;
}

/**
 * The records of one stream partition: a database of its own inside the environment, from offset to bytes.
 *
 * Keys are offsets as 48-bit big-endian integers, so that key order is offset order. A tree a partition instead of one for
 * all: every append lands at its right edge, which fills pages (6 % overhead in place of 33 %, 780-byte records).
 */
export class PartitionStore {
  private readonly records: Database<Uint8Array, Uint8Array>;

  constructor(environment: LmdbEnvironment, stream: Stream, partition: number) {
    this.records = environment.openDB(`${stream}/${partition}`, {
      keyEncoding: 'binary',
      encoding: 'binary',
    });
  }

  /** Inside a write transaction only: that is what makes offsets contiguous across processes. */
  append(records: readonly Uint8Array[]): number {
    const firstOffset = this.endOffset();
    for (let i = 0; i < records.length; i += 1) {
      this.put(firstOffset + i, records[i]);
    }
    return firstOffset;
  }

  read(fromOffset: number, { maxRecords, maxBytes }: ReadLimits): LogRecord[] {
    const records: LogRecord[] = [];
    let numBytes = 0;
    for (const { key, value } of this.records.getRange({ start: keyOf(fromOffset), limit: maxRecords })) {
      // The driver's buffer may point into the map, which the next write changes. Small copies share pages of Node's.
      const bytes = Buffer.from(value);
      records.push({ offset: offsetOf(key), bytes });
      numBytes += bytes.length;
      if (numBytes >= maxBytes) break;
    }
    return records;
  }

  /**
   * Removes records from `from` to `end` − 1, at most `limit`, but never the first nor the last of the partition: they hold its
   * edges in place. Inside a write transaction only.
   *
   * @returns how many went, and where to go on
   */
  remove({ from, end }: OffsetRange, limit: number): { readonly numRemoved: number; readonly next: number } {
    const first = Math.max(from, this.startOffset() + 1);
    const last = Math.min(end, this.endOffset() - 1);
    if (first >= last) return { numRemoved: 0, next: end };
    const range = { start: keyOf(first), end: keyOf(last), limit };
    const keys = Array.from(this.records.getKeys(range), (key) => Buffer.from(key));
    for (const key of keys) this.records.removeSync(key);
    return { numRemoved: keys.length, next: keys.length < limit ? end : offsetOf(keys[keys.length - 1]) + 1 };
  }

  get(offset: number): Uint8Array | undefined {
    return this.records.get(keyOf(offset));
  }

  startOffset(): number {
    return this.edge({ limit: 1 }) ?? 0;
  }

  endOffset(): number {
    const last = this.edge({ reverse: true, start: LAST_KEY, limit: 1 });
    return last === null ? 0 : last + 1;
  }

  private edge(range: {
    readonly limit: 1;
    readonly reverse?: boolean;
    readonly start?: Uint8Array;
  }): number | null {
    for (const key of this.records.getKeys(range)) return offsetOf(key);
    return null;
  }

  private put(offset: number, bytes: Uint8Array): void {
    // Inside a transaction the driver writes at once and throws on failure. `append` keeps LMDB from splitting pages in half.
    this.records.putSync(keyOf(offset), bytes, { append: true });
  }
}

function keyOf(offset: number): Buffer {
  const key = Buffer.allocUnsafe(KEY_BYTES);
  key.writeUIntBE(offset, 0, KEY_BYTES);
  return key;
}

function offsetOf(key: Uint8Array): number {
  let offset = 0;
  for (let i = 0; i < KEY_BYTES; i++) offset = 256 * offset + key[i];
  return offset;
}
