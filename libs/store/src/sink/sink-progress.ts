import type { Stream } from '@retrace/trajectory';

/** How far one stream partition is in the store, with counters since `Sink.run`. */
export interface PartitionProgress {
  readonly stream: Stream;
  readonly partition: number;
  /** `failed`: for a reason that waiting may not mend. It is retried slowly while the other partitions continue. */
  readonly state: 'assigning' | 'running' | 'backingOff' | 'failed';
  /** The store has every record before this offset; null until that is known. */
  readonly nextOffset: number | null;
  /** By how many offsets the store was behind the log when they were last compared; null until then. */
  readonly lag: number | null;
  /** Other logs that the store held records of when this partition started at 0: the log was recreated. */
  readonly otherLogIds: readonly string[];
  readonly numRows: number;
  readonly numDeadLetters: number;
  readonly numInserts: number;
  /** Bytes of records in the log. */
  readonly numBytes: number;
  /** Offsets for which the log had no record. */
  readonly numMissingOffsets: number;
  /** Time from an event's `occurredAt` to the confirmation of its insert, over the latest events; null when there are none. */
  readonly visibleAfterMs: { readonly p50: number; readonly p99: number } | null;
  /** The latest failure; null when there was none. */
  readonly lastFailure: { readonly message: string; readonly atMs: number } | null;
}

export interface SinkProgress {
  readonly partitions: readonly PartitionProgress[];
}

interface Waiter {
  readonly offset: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const NUM_LATENCIES = 4096;

/** State of a partition, as `PartitionProgress.state` names it. */
type PartitionState =
  | { readonly kind: 'assigning' | 'running' | 'backingOff' }
  | { readonly kind: 'failed'; readonly error: Error };

/** Keeps `PartitionProgress` of one partition up to date, and tells those who wait for an offset. */
export class PartitionTracker {
  private state: PartitionState = { kind: 'assigning' };
  private next: number | null = null;
  private endOffset = 0;
  private otherLogIds: readonly string[] = [];
  private numRows = 0;
  private numDeadLetters = 0;
  private numInserts = 0;
  private numBytes = 0;
  private numMissingOffsets = 0;
  private lastFailure: PartitionProgress['lastFailure'] = null;
  private readonly latenciesMs = new Float64Array(NUM_LATENCIES);
  private numLatencies = 0;
  private readonly waiters = new Set<Waiter>();

  constructor(
    readonly stream: Stream,
    readonly partition: number,
  ) {}

  get nextOffset(): number | null {
    return this.next;
  }

  assigned(nextOffset: number, otherLogIds: readonly string[]): void {
    this.state = { kind: 'running' };
    this.otherLogIds = otherLogIds;
    this.moveTo(nextOffset);
  }

  sawEnd(endOffset: number): void {
    this.endOffset = endOffset;
  }

  inserted(batch: {
    readonly nextOffset: number;
    readonly numRows: number;
    readonly numDeadLetters: number;
    readonly numBytes: number;
    readonly numMissingOffsets: number;
    readonly occurredAtMs: readonly number[];
  }): void {
    this.numRows += batch.numRows;
    this.numDeadLetters += batch.numDeadLetters;
    this.numBytes += batch.numBytes;
    this.numMissingOffsets += batch.numMissingOffsets;
    this.numInserts++;
    const nowMs = Date.now();
    for (const atMs of batch.occurredAtMs)
      this.latenciesMs[this.numLatencies++ % NUM_LATENCIES] = nowMs - atMs;
    this.moveTo(batch.nextOffset);
  }

  /** Tells that it failed for a reason that waiting may mend, and will continue after a pause. */
  backOff(error: Error): void {
    this.state = { kind: 'backingOff' };
    this.lastFailure = { message: error.message, atMs: Date.now() };
  }

  /** Whether it failed for a reason that waiting may not mend, and has not continued since. */
  get isFailed(): boolean {
    return this.state.kind === 'failed';
  }

  /** Records that the sink failed for a reason that waiting may not mend, and rejects all waits for an offset with it. */
  fail(error: Error): void {
    this.state = { kind: 'failed', error };
    this.lastFailure = { message: error.message, atMs: Date.now() };
    this.end(error);
  }

  /** Resolves when the record at `offset` is in the store. */
  reached(offset: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.next !== null && this.next > offset) return Promise.resolve();
    if (this.state.kind === 'failed') return Promise.reject(this.state.error);
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => () => {
        this.waiters.delete(waiter);
        signal?.removeEventListener('abort', onAbort);
        finish();
      };
      const waiter: Waiter = {
        offset,
        resolve: settle(resolve),
        reject: (error) => settle(() => reject(error))(),
      };
      const onAbort = (): void => waiter.reject(signal?.reason);
      this.waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted) onAbort();
    });
  }

  /** Rejects all waits for an offset with the reason, since no more rows will come. */
  end(reason: unknown): void {
    for (const waiter of this.waiters) waiter.reject(reason);
  }

  snapshot(): PartitionProgress {
    const { stream, partition, state, numRows, numDeadLetters, numInserts, numBytes, lastFailure } = this;
    return {
      stream,
      partition,
      state: state.kind,
      nextOffset: this.next,
      lag: this.next === null ? null : Math.max(0, this.endOffset - this.next),
      otherLogIds: this.otherLogIds,
      numRows,
      numDeadLetters,
      numInserts,
      numBytes,
      numMissingOffsets: this.numMissingOffsets,
      visibleAfterMs: this.latencyQuantiles(),
      lastFailure,
    };
  }

  private moveTo(nextOffset: number): void {
    this.next = nextOffset;
    for (const waiter of this.waiters) if (waiter.offset < nextOffset) waiter.resolve();
  }

  private latencyQuantiles(): PartitionProgress['visibleAfterMs'] {
    const sorted = this.latenciesMs.slice(0, Math.min(this.numLatencies, NUM_LATENCIES)).sort();
    if (sorted.length === 0) return null;
    const at = (fraction: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))];
    return { p50: at(0.5), p99: at(0.99) };
  }
}
