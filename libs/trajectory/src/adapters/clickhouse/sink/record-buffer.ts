export interface TakeOptions {
  readonly maxRecords: number;
  readonly maxBytes: number;
  /** How long the first record may wait for more. */
  readonly lingerMs: number;
  /** No sooner than this, on `performance.now()`'s clock, unless a full batch is there. */
  readonly notBeforeMs: number;
}

/** What a buffered record must tell of itself. */
export interface Buffered {
  readonly offset: number;
  readonly sizeBytes: number;
}

/**
 * Records between the log and the insert: filled by `fill` while the batch before is on its way, emptied by `take`.
 * Holds at most `capacityBytes`, plus what one read of the log gives.
 */
export class RecordBuffer<R extends Buffered> {
  private records: R[] = [];
  private sizeBytes = 0;
  private isEnded = false;
  private failure: unknown = null;
  private firstArrivalMs = 0;
  private lastOffset = -1;
  private awaitedOffset = -1;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly capacityBytes: number) {}

  /** Resolves when the source ends or fails; `take` then gives what is left, and rejects with the failure. */
  async fill(source: AsyncIterable<R[]>): Promise<void> {
    try {
      for await (const records of source) {
        if (this.records.length === 0) this.firstArrivalMs = performance.now();
        for (const record of records) {
          this.records.push(record);
          this.sizeBytes += record.sizeBytes;
          this.lastOffset = record.offset;
        }
        this.changed();
        while (this.sizeBytes >= this.capacityBytes) await this.change();
      }
    } catch (error) {
      this.failure = error;
    }
    this.isEnded = true;
    this.changed();
  }

  /** The next batch, in log order; empty when the source has ended and nothing is left. */
  async take(options: TakeOptions): Promise<R[]> {
    while (!this.isEnded && !this.isFull(options)) {
      const remainingMs = this.remainingMs(options);
      if (remainingMs <= 0) break;
      await this.change(remainingMs);
    }
    if (this.records.length === 0 && this.failure !== null) throw this.failure;
    return this.cut(options);
  }

  /** Somebody waits for the record at this offset: the batch that ends with it or behind it does not linger. */
  hurry(offset: number): void {
    this.awaitedOffset = Math.max(this.awaitedOffset, offset);
    this.changed();
  }

  /** Drops what it holds, so that `fill` comes to its source's end. */
  discard(): void {
    this.records = [];
    this.sizeBytes = 0;
    this.changed();
  }

  private isFull({ maxRecords, maxBytes }: TakeOptions): boolean {
    return this.records.length >= maxRecords || this.sizeBytes >= maxBytes;
  }

  private remainingMs({ lingerMs, notBeforeMs }: TakeOptions): number {
    if (this.records.length === 0) return Infinity;
    const isAwaited = this.awaitedOffset >= this.records[0].offset && this.awaitedOffset <= this.lastOffset;
    const ripeMs = isAwaited ? 0 : this.firstArrivalMs + lingerMs;
    return Math.max(ripeMs, notBeforeMs) - performance.now();
  }

  private cut({ maxRecords, maxBytes }: TakeOptions): R[] {
    let numRecords = 0;
    let sizeBytes = 0;
    while (numRecords < Math.min(this.records.length, maxRecords) && sizeBytes < maxBytes) {
      sizeBytes += this.records[numRecords++].sizeBytes;
    }
    const batch = this.records.slice(0, numRecords);
    this.records = this.records.slice(numRecords);
    this.sizeBytes -= sizeBytes;
    this.firstArrivalMs = performance.now();
    this.changed();
    return batch;
  }

  /** Resolves when the content changes, or after `timeoutMs`. */
  private change(timeoutMs = Infinity): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = timeoutMs === Infinity ? undefined : setTimeout(wake, timeoutMs);
      this.waiting.add(wake);
    });
  }

  private changed(): void {
    for (const wake of this.waiting) wake();
  }
}
