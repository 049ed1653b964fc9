import type { LogRecord } from '@retrace/log';
import { TimeSlice } from './time-slice.js';

/** What a buffered batch must tell of itself. */
export interface BufferedBatch {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly numRecords: number;
  readonly sizeBytes: number;
}

export interface BatchBufferOptions<B extends BufferedBatch> {
  /** A batch that has come so far is closed, and the next begun. */
  readonly maxRecords: number;
  readonly maxBytes: number;
  readonly newBatch: () => B;
  /** False, and nothing is appended, where `learn` must come first. */
  readonly append: (batch: B, record: LogRecord) => boolean;
  /** Reads what `append` lacks for these records: the one it did not take, and those behind it that are there. */
  readonly learn: (records: readonly LogRecord[]) => Promise<void>;
}

export interface TakeOptions {
  /** How long the first record may wait for more. */
  readonly lingerMs: number;
  /** No sooner than this, on `performance.now()`'s clock, unless a full batch is there. */
  readonly notBeforeMs: number;
}

/**
 * Batches between the log and the insert: filled by `fill` while the batch before is on its way, emptied by `take`.
 * Holds at most `maxBytes`, plus what one read of the log gives.
 */
export class BatchBuffer<B extends BufferedBatch> {
  private batches: { readonly batch: B; readonly firstArrivalMs: number }[] = [];
  private sizeBytes = 0;
  private isEnded = false;
  private isDiscarding = false;
  private failure: unknown = null;
  private awaitedOffset = -1;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly options: BatchBufferOptions<B>) {}

  /** Resolves when the source ends or fails; `take` then gives what is left, and rejects with the failure. */
  async fill(source: AsyncIterable<LogRecord[]>): Promise<void> {
    try {
      for await (const records of source) {
        await this.append(records);
        while (this.sizeBytes >= this.options.maxBytes && !this.isDiscarding) await this.change();
      }
    } catch (error) {
      this.failure = error;
    }
    this.isEnded = true;
    this.changed();
  }

  /** The next batch, in log order; null when the source has ended and nothing is left. */
  async take(options: TakeOptions): Promise<B | null> {
    while (!this.isEnded && !this.isFirstFull()) {
      const remainingMs = this.remainingMs(options);
      if (remainingMs <= 0) break;
      await this.change(remainingMs);
    }
    const first = this.batches.shift();
    if (first === undefined) {
      if (this.failure !== null) throw this.failure;
      return null;
    }
    this.sizeBytes -= first.batch.sizeBytes;
    this.changed();
    return first.batch;
  }

  /** Somebody waits for the record at this offset: the batch that ends with it or behind it does not linger. */
  hurry(offset: number): void {
    this.awaitedOffset = Math.max(this.awaitedOffset, offset);
    this.changed();
  }

  /** Drops what it holds and what still comes, so that `fill` comes to its source's end. */
  discard(): void {
    this.isDiscarding = true;
    this.batches = [];
    this.sizeBytes = 0;
    this.changed();
  }

  private async append(records: readonly LogRecord[]): Promise<void> {
    const slice = new TimeSlice();
    for (const [i, record] of records.entries()) {
      while (!this.isDiscarding && !this.appendOne(record)) {
        this.changed();
        await this.options.learn(records.slice(i));
      }
      if (this.isDiscarding) return;
      if (!slice.isOver) continue;
      this.changed();
      await slice.next();
    }
    this.changed();
  }

  private appendOne(record: LogRecord): boolean {
    const batch = this.openBatch();
    const before = batch.sizeBytes;
    const isAppended = this.options.append(batch, record);
    // Nobody may take an empty batch while `learn` is under way.
    if (!isAppended && batch.numRecords === 0) this.batches.pop();
    this.sizeBytes += batch.sizeBytes - before;
    return isAppended;
  }

  private openBatch(): B {
    const last = this.batches.at(-1)?.batch;
    if (last !== undefined && !this.isFull(last)) return last;
    const batch = this.options.newBatch();
    this.batches.push({ batch, firstArrivalMs: performance.now() });
    return batch;
  }

  private isFull({ numRecords, sizeBytes }: B): boolean {
    return numRecords >= this.options.maxRecords || sizeBytes >= this.options.maxBytes;
  }

  private isFirstFull(): boolean {
    return this.batches.length > 0 && this.isFull(this.batches[0].batch);
  }

  private remainingMs({ lingerMs, notBeforeMs }: TakeOptions): number {
    if (this.batches.length === 0) return Infinity;
    const [{ batch, firstArrivalMs }] = this.batches;
    const isAwaited = this.awaitedOffset >= batch.firstOffset && this.awaitedOffset <= batch.lastOffset;
    const ripeMs = isAwaited ? 0 : firstArrivalMs + lingerMs;
    return Math.max(ripeMs, notBeforeMs) - performance.now();
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
