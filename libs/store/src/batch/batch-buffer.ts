import type { LogRecord } from '@retrace/log';
import type { AppendResult } from './append-result.js';
import { TimeSlice } from './time-slice.js';

export interface BufferedBatch {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly numRecords: number;
  readonly sizeBytes: number;
}

export interface BatchBufferOptions<B extends BufferedBatch> {
  /** A batch with so many records or bytes is full, and the next record begins another. */
  readonly maxRecords: number;
  readonly maxBytes: number;
  readonly newBatch: () => B;
  /** After `retry` the record is given again, once `learn` has resolved. */
  readonly append: (batch: B, record: LogRecord) => AppendResult;
  /** Reads what is missing to append these records: the one that has to be retried, and those behind it that have arrived. */
  readonly learn: (records: readonly LogRecord[]) => Promise<void>;
}

export interface TakeOptions {
  /** How long the first record may wait for more. */
  readonly lingerMs: number;
  /** A batch that is not full is not given before this time, on the clock of `performance.now()`. */
  readonly notBeforeMs: number;
}

export type TakeResult<B> = { readonly kind: 'batch'; readonly batch: B } | { readonly kind: 'ended' };

/**
 * The batches between the log and the insert: `fill` adds to them while an insert is under way, `take` removes them one by one.
 * Holds at most `maxBytes`, plus the records of one read of the log.
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

  /** Resolves when the source ends or fails. `take` then still gives what was read, and after it rejects with the failure. */
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

  /**
   * Takes the next batch in log order; `ended` when the source has ended and nothing is left.
   *
   * @throws what the source failed with
   */
  async take(options: TakeOptions): Promise<TakeResult<B>> {
    while (!this.isEnded && !this.isFirstFull()) {
      const remainingMs = this.remainingMs(options);
      if (remainingMs <= 0) break;
      await this.change(remainingMs);
    }
    const first = this.batches.shift();
    if (first === undefined) {
      if (this.failure !== null) throw this.failure;
      return { kind: 'ended' };
    }
    this.sizeBytes -= first.batch.sizeBytes;
    this.changed();
    return { kind: 'batch', batch: first.batch };
  }

  /** Resolves to the offset of the first record that waits to be taken, once there is one; to null when the source has ended or the signal aborts. */
  async firstOffset(signal: AbortSignal): Promise<number | null> {
    while (this.batches.length === 0 && !this.isEnded && !signal.aborted) await this.change(Infinity, signal);
    return this.batches[0]?.batch.firstOffset ?? null;
  }

  /** Tells that somebody waits for the record at this offset: the batch that holds it does not linger. */
  hurry(offset: number): void {
    this.awaitedOffset = Math.max(this.awaitedOffset, offset);
    this.changed();
  }

  /** Drops the batches and all records that still come, so that `fill` reaches the end of its source. */
  discard(): void {
    this.isDiscarding = true;
    this.batches = [];
    this.sizeBytes = 0;
    this.changed();
  }

  private async append(records: readonly LogRecord[]): Promise<void> {
    let slice = new TimeSlice();
    for (const [i, record] of records.entries()) {
      while (!this.isDiscarding && this.appendOne(record).kind === 'retry') {
        this.changed();
        await this.options.learn(records.slice(i));
        // Others had their turn meanwhile.
        slice = new TimeSlice();
      }
      if (this.isDiscarding) return;
      if (!slice.isOver) continue;
      this.changed();
      await slice.next();
    }
    this.changed();
  }

  private appendOne(record: LogRecord): AppendResult {
    const batch = this.openBatch();
    const before = batch.sizeBytes;
    const result = this.options.append(batch, record);
    // An empty batch must not be taken while `learn` is under way.
    if (result.kind === 'retry' && batch.numRecords === 0) this.batches.pop();
    this.sizeBytes += batch.sizeBytes - before;
    return result;
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

  /** Resolves when the content changes, after `timeoutMs`, or when the signal aborts. */
  private change(timeoutMs = Infinity, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = timeoutMs === Infinity ? undefined : setTimeout(wake, timeoutMs);
      this.waiting.add(wake);
      signal?.addEventListener('abort', wake);
    });
  }

  private changed(): void {
    for (const wake of this.waiting) wake();
  }
}
