import type { Database, RangeOptions, RootDatabase } from 'lmdb';
import type { LogRecord, OffsetRange, ReadOptions } from '../event-log.js';
import type { Stream } from '@retrace/trajectory';
import { checkRecordPages } from './data-file/check-data-file.js';
import { inSnapshot } from './in-snapshot.js';

export type LmdbEnvironment = RootDatabase<Uint8Array, Uint8Array>;

const KEY_BYTES = 6;

/** Largest offset that a key can hold. */
export const MAX_OFFSET = 2 ** (8 * KEY_BYTES) - 1;

const LAST_KEY = Buffer.alloc(KEY_BYTES, 0xff);

/** Pages that are checked at once before they are read through memory: 16 MiB take 10 ms. */
const LEAVES_PER_CHECK = 4_096;

interface PartitionPlace {
  /** Directory of the log. */
  readonly path: string;
  readonly stream: Stream;
  readonly partition: number;
}

/**
 * The records of one stream partition, in a named database of the environment that maps offset to bytes.
 *
 * Keys are offsets as 48-bit big-endian integers, so that key order is offset order. Each partition has its own tree, so every append lands
 * at the tree's right edge, which fills pages (overhead of 6 % instead of 33 % for records of 780 bytes).
 */
export class PartitionStore {
  private readonly records: Database<Uint8Array, Uint8Array>;
  private readonly name: string;
  /** Records from here on were written since the log was opened, and the ones before may be damaged. */
  private readonly openedAt: number;
  private checked = { from: 0, end: 0 };

  constructor(
    environment: LmdbEnvironment,
    private readonly place: PartitionPlace,
  ) {
    this.name = `${place.stream}/${place.partition}`;
    this.records = environment.openDB(this.name, { keyEncoding: 'binary', encoding: 'binary' });
    this.openedAt = this.endOffset();
  }

  /** Appends records and returns the first offset. Must run in a write transaction, which makes offsets contiguous across processes. */
  append(records: readonly Uint8Array[]): number {
    const firstOffset = this.endOffset();
    records.forEach((bytes, i) => {
      this.put({ offset: firstOffset + i, bytes });
    });
    return firstOffset;
  }

  /** Writes a record behind all others, at its own offset. Must run in a write transaction. */
  put({ offset, bytes }: LogRecord): void {
    // Inside a transaction the driver writes at once and throws on failure. `append` keeps LMDB from splitting pages in half.
    this.records.putSync(encodeKey(offset), bytes, { append: true });
  }

  /** @throws LogError `LOG_CORRUPT` */
  read(fromOffset: number, options: Required<ReadOptions>): LogRecord[] {
    for (let from = fromOffset; ;) {
      const end = this.checkPages(from);
      const records = this.readRange({ from, end }, options);
      if (records.length > 0 || end > MAX_OFFSET) return records;
      from = end;
    }
  }

  /**
   * Removes at most `limit` records from `from` to `end` − 1, but neither the first nor the last of the partition, which mark its ends.
   * Must run in a write transaction.
   *
   * @returns the number of removed records, and the offset from which to continue
   */
  remove({ from, end }: OffsetRange, limit: number): { readonly numRemoved: number; readonly next: number } {
    const first = Math.max(from, this.startOffset() + 1);
    const last = Math.min(end, this.endOffset() - 1);
    if (first >= last) return { numRemoved: 0, next: end };
    const range = { start: encodeKey(first), end: encodeKey(last), limit };
    const keys = Array.from(this.records.getKeys(range), (key) => Buffer.from(key));
    for (const key of keys) this.records.removeSync(key);
    return {
      numRemoved: keys.length,
      next: keys.length < limit ? end : decodeOffset(keys[keys.length - 1]) + 1,
    };
  }

  /** Replaces the first and the last record of the partition, where they are in the range. Must run in a write transaction. */
  replaceEdges({ from, end }: OffsetRange, replacement: (record: LogRecord) => Uint8Array): void {
    for (const offset of new Set([this.startOffset(), this.endOffset() - 1])) {
      const bytes = offset >= from && offset < end ? this.get(offset) : undefined;
      if (bytes !== undefined)
        this.records.putSync(encodeKey(offset), replacement({ offset, bytes: Buffer.from(bytes) }));
    }
  }

  get(offset: number): Uint8Array | undefined {
    return this.records.get(encodeKey(offset));
  }

  startOffset(): number {
    return this.edge({ limit: 1 }) ?? 0;
  }

  endOffset(): number {
    const last = this.edge({ reverse: true, start: LAST_KEY, limit: 1 });
    return last === null ? 0 : last + 1;
  }

  /**
   * Checks the pages of the records from an offset on, once, and returns up to where.
   *
   * @throws LogError `LOG_CORRUPT`
   */
  private checkPages(from: number): number {
    if (from >= this.openedAt) return Infinity;
    if (from < this.checked.from || from >= this.checked.end) {
      const range = { from: encodeKey(from), maxLeaves: LEAVES_PER_CHECK };
      const end = inSnapshot(this.records, () => checkRecordPages(this.place.path, this.name, range));
      this.checked = { from, end: end === null ? Infinity : decodeOffset(end) };
    }
    return this.checked.end;
  }

  private readRange(
    { from, end }: OffsetRange,
    { maxRecords, maxBytes }: Required<ReadOptions>,
  ): LogRecord[] {
    const records: LogRecord[] = [];
    let numBytes = 0;
    const range = {
      start: encodeKey(from),
      limit: maxRecords,
      ...(end <= MAX_OFFSET && { end: encodeKey(end) }),
    };
    for (const { key, value } of this.records.getRange(range)) {
      // The driver's buffer may point into the map, which the next write changes. Small copies share pages of Node's.
      const bytes = Buffer.from(value);
      records.push({ offset: decodeOffset(key), bytes });
      numBytes += bytes.length;
      if (numBytes >= maxBytes) break;
    }
    return records;
  }

  private edge(range: RangeOptions): number | null {
    for (const key of this.records.getKeys(range)) return decodeOffset(key);
    return null;
  }
}

function encodeKey(offset: number): Buffer {
  const key = Buffer.allocUnsafe(KEY_BYTES);
  key.writeUIntBE(offset, 0, KEY_BYTES);
  return key;
}

function decodeOffset(key: Uint8Array): number {
  let offset = 0;
  for (let i = 0; i < KEY_BYTES; i++) offset = 256 * offset + key[i];
  return offset;
}
