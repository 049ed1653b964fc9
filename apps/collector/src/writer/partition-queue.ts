import { framedBytes, SpoolError, type Spool } from '@retrace/spool';
import { CollectorError } from '../collector-error.js';

/** Unacknowledged records of one partition in the order in which they were written: the oldest in the spool, the rest in memory. */
export class PartitionQueue {
  private memory: Uint8Array[] = [];
  private spooling: Promise<unknown> = Promise.resolve();
  memoryBytes = 0;
  /** When the oldest record in memory was added, by `performance.now()`. */
  sinceMs = 0;

  /** @param spool null: records wait only in memory */
  constructor(readonly spool: Spool | null) {}

  get isEmpty(): boolean {
    return this.memory.length === 0 && this.numSpooled === 0;
  }

  get hasMemory(): boolean {
    return this.memory.length > 0;
  }

  get spoolBytes(): number {
    return this.spool?.sizeBytes ?? 0;
  }

  push(record: Uint8Array): void {
    if (this.memory.length === 0) this.sinceMs = performance.now();
    this.memory.push(record);
    this.memoryBytes += record.length;
  }

  /** Drops the records in memory, and returns them. */
  clear(): Uint8Array[] {
    return this.dropFromMemory(this.memory.length);
  }

  /** The records in memory. */
  inMemory(): readonly Uint8Array[] {
    return this.memory.slice();
  }

  /**
   * The oldest records, at least one, up to `maxBytes`. At once where they are in memory.
   *
   * @throws CollectorError `SPOOL_UNUSABLE` when those in the spool changed on disk
   */
  head(maxBytes: number): Promise<Uint8Array[]> | Uint8Array[] {
    if (this.spool && this.spool.numRecords > 0) return this.spool.peek(maxBytes).catch(unusable);
    return this.memory.slice(0, prefixWithin(this.memory, maxBytes, (record) => record.length) || 1);
  }

  /** Removes the oldest records, whether they are in the spool or in memory. */
  async acknowledge(numRecords: number): Promise<void> {
    await this.exclusively(async () => {
      const numFromSpool = Math.min(numRecords, this.numSpooled);
      this.dropFromMemory(numRecords - numFromSpool);
      if (numFromSpool > 0) await this.spool?.take(numFromSpool);
    });
  }

  /**
   * Moves the oldest records in memory to the spool, as many as fit into `maxBytes`. Resolves with the number of bytes they take
   * there: 0 when there is nothing to move or no room.
   */
  async spill(maxBytes: number): Promise<number> {
    const { spool } = this;
    if (!spool) return 0;
    return this.exclusively(async () => {
      const size = (record: Uint8Array): number => framedBytes(record.length);
      const records = this.memory.slice(0, prefixWithin(this.memory, maxBytes, size));
      if (records.length === 0) return 0;
      await spool.append(records);
      this.dropFromMemory(records.length);
      return records.reduce((sum, record) => sum + size(record), 0);
    });
  }

  get numSpooled(): number {
    return this.spool?.numRecords ?? 0;
  }

  private dropFromMemory(numRecords: number): Uint8Array[] {
    const dropped = this.memory.splice(0, numRecords);
    for (const record of dropped) this.memoryBytes -= record.length;
    return dropped;
  }

  /** One change of memory and spool at a time. */
  private exclusively<T>(change: () => Promise<T>): Promise<T> {
    const done = this.spooling.then(change);
    this.spooling = done.catch(() => undefined);
    return done;
  }
}

function unusable(error: unknown): never {
  if (error instanceof SpoolError) throw new CollectorError('SPOOL_UNUSABLE', error.message);
  throw error;
}

function prefixWithin(
  records: readonly Uint8Array[],
  maxBytes: number,
  sizeOf: (record: Uint8Array) => number,
): number {
  let numBytes = 0;
  const end = records.findIndex((record) => (numBytes += sizeOf(record)) > maxBytes);
  return end < 0 ? records.length : end;
}
