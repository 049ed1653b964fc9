import { setImmediate } from 'node:timers/promises';
import { LogError, partitionOf, type EventLog } from '@retrace/log';
import { type AnyEvent } from '@retrace/trajectory';
import { encodeEvent, type KnownEvents } from '@retrace/trajectory/codec';
import { PartitionAppender, type AppendTiming } from './partition-appender.js';
import { PartitionQueue } from './partition-queue.js';
import { openSpool, type SpoolOptions } from './open-spool.js';

export interface TrajectoryWriterOptions extends Partial<AppendTiming> {
  /** A partition's records are appended when they have this many bytes (default 256 KiB) … */
  readonly maxBatchBytes?: number;
  /** … or, between turns, when the oldest has waited this many milliseconds (default 10). */
  readonly lingerMs?: number;
  /** Turns wait while more than this many bytes in memory are not acknowledged: back-pressure on the rollouts (default 32 MiB). */
  readonly maxMemoryBytes?: number;
  /** Where records wait while the log is unavailable; without it they wait only in memory. */
  readonly spool?: SpoolOptions;
  /** Remembers each event, for a reader of the log in this process. */
  readonly known?: KnownEvents;
  /** After it aborts, nothing waits for the log for longer than `drainMs`. */
  readonly signal?: AbortSignal;
  /** Default 3,000. */
  readonly drainMs?: number;
  /** Receives one line when the log becomes unavailable, when there is no room for more records, and when it is back. */
  readonly onNotice?: (line: string) => void;
}

/**
 * Batches episode events per partition into appends, and outlasts a slow or unavailable log: failed appends are retried with the same
 * bytes, in order; meanwhile records go to the spool, and when that is full turns wait. Nothing is dropped. `flush` resolves when
 * everything written is acknowledged by the log.
 */
export class TrajectoryWriter {
  private readonly queues: readonly PartitionQueue[];
  private readonly appenders: readonly PartitionAppender[];
  private readonly closing = new AbortController();
  private readonly waiting = new Set<() => void>();
  private spilling: Promise<void> | null = null;
  private awaySinceMs: number | null = null;
  private isFull = false;
  /** Whether what is held may be appended; null where nothing is held. */
  private decision: Promise<boolean> | null = null;
  private isDropping = false;
  /** Seconds that rollouts waited for the log. */
  waitedSeconds = 0;
  private peakBytes = 0;

  private constructor(
    private readonly log: EventLog,
    private readonly options: TrajectoryWriterOptions,
    spools: Awaited<ReturnType<typeof openSpool>> | null,
  ) {
    const { awayAfterMs = 5_000, appendDeadlineMs = 150_000, retryAfterMs = 50 } = options;
    const timing = { awayAfterMs, appendDeadlineMs, retryAfterMs };
    const partitions = Array.from({ length: log.numPartitions('trajectories') }, (_, partition) => partition);
    this.queues = partitions.map((partition) => new PartitionQueue(spools?.files[partition] ?? null));
    this.appenders = this.queues.map(
      (queue, partition) =>
        new PartitionAppender({
          ...{ log, partition, queue, ...timing, closing: this.closing.signal },
          onChange: () => {
            this.changed();
          },
        }),
    );
  }

  /**
   * Opens the spool with the records that an earlier writer left there; the next `flush` appends them.
   *
   * @throws CollectorError `SPOOL_UNUSABLE`
   */
  static async open(log: EventLog, options: TrajectoryWriterOptions = {}): Promise<TrajectoryWriter> {
    const spools = options.spool ? await openSpool(log, options.spool) : null;
    if (spools && spools.numRecords + spools.numCutBytes > 0) {
      const cut = spools.numCutBytes > 0 ? `; cut ${spools.numCutBytes} damaged bytes off its end` : '';
      options.onNotice?.(`appending ${spools.numRecords} events from the spool${cut}`);
    }
    return new TrajectoryWriter(log, options, spools);
  }

  /** Bytes that the spool takes on disk. */
  get spoolBytes(): number {
    return this.queues.reduce((sum, queue) => sum + queue.spoolBytes, 0);
  }

  /** The most that the spool took since the last call. */
  takePeakSpoolBytes(): number {
    const peak = this.peakBytes;
    this.peakBytes = 0;
    return peak;
  }

  /**
   * Queues an event for its partition.
   *
   * @throws TrajectoryError `INVALID_EVENT`; LogError `LOG_RECORD_TOO_LARGE`; nothing of the event is written then
   */
  write(event: AnyEvent): void {
    const { maxBatchBytes = 256 * 1024 } = this.options;
    const bytes = encodeEvent(event);
    const mostBytes = Math.min(this.log.maxEventBytes, this.log.maxRecordBytes);
    if (bytes.length > mostBytes) {
      const what = `${event.kind} of episode ${event.episodeId}, seq ${event.seq}, has ${bytes.length} bytes`;
      throw new LogError('LOG_RECORD_TOO_LARGE', `${what}; must have at most ${mostBytes} (maxEventBytes)`);
    }
    if (this.isDropping) return;
    this.options.known?.remember(event, bytes);
    const partition = partitionOf(event.runId, event.episodeId, this.queues.length);
    this.queues[partition].push(bytes);
    if (this.queues[partition].memoryBytes >= maxBatchBytes) this.start(partition);
  }

  /**
   * Appends records that have waited long enough, and gives the log time to work. Call it between turns, and between the actions of a
   * long turn. Resolves soon, unless there is no room for more records.
   */
  async betweenTurns(): Promise<void> {
    const due = performance.now() - (this.options.lingerMs ?? 10);
    this.queues.forEach((queue, partition) => {
      if (queue.hasMemory && queue.sinceMs <= due) this.start(partition);
    });
    this.spill();
    if (this.memoryBytes > 0) await setImmediate();
    const { maxMemoryBytes = 32 * 1024 * 1024 } = this.options;
    const isTooMuch = (): boolean => this.memoryBytes > maxMemoryBytes;
    // Nearly always there is nothing to wait for, and a failure to throw is rarer still.
    if (this.failure !== null || isTooMuch()) await this.waitWhile(isTooMuch);
  }

  /**
   * From now on records wait in memory, until it is decided whether they may be appended. With false, or an error, they are dropped, and so is
   * what is written until the next `flush`, as if it had never been. Called when no records wait.
   *
   * @returns a signal that aborts when they are dropped
   */
  hold(mayAppend: Promise<boolean>): AbortSignal {
    const dropped = new AbortController();
    this.decision = mayAppend
      .then((isAllowed) => {
        if (isAllowed) this.release();
        return isAllowed;
      })
      .finally(() => {
        if (!this.decision) return;
        this.drop();
        dropped.abort();
      });
    // `flush` throws it.
    this.decision.catch(() => undefined);
    return dropped.signal;
  }

  private release(): void {
    this.decision = null;
    if (this.memoryBytes > 0) for (const appender of this.appenders) appender.start();
  }

  private drop(): void {
    this.isDropping = true;
    for (const record of this.queues.flatMap((queue) => queue.clear())) this.options.known?.take(record);
    this.wake();
  }

  /**
   * Resolves with true when everything written so far is acknowledged, or with false where what was held is dropped, or `drainMs` after
   * the signal has aborted.
   *
   * @throws the error of an append that no retry can fix, and of the decision that `hold` waits for
   */
  async flush(): Promise<boolean> {
    if (this.decision && !(await this.endHold(this.decision))) return false;
    for (const appender of this.appenders) appender.start();
    await this.waitWhile(() => this.queues.some((queue) => !queue.isEmpty));
    return this.queues.every((queue) => queue.isEmpty);
  }

  /**
   * Moves unacknowledged records to the spool, even beyond its limit, and closes it: the next writer appends them. Those that are held are
   * dropped. Resolves with the number of bytes that stay there.
   */
  async close(): Promise<number> {
    if (this.decision) this.drop();
    this.closing.abort();
    await Promise.all([this.spilling, ...this.appenders.map((appender) => appender.stopped())]);
    for (const queue of this.queues) {
      await queue.spill(Number.POSITIVE_INFINITY);
      await queue.spool?.close();
    }
    return this.queues.every((queue) => queue.isEmpty) ? 0 : this.spoolBytes;
  }

  /** Bytes of unacknowledged records in memory, including those of appends under way. */
  get memoryBytes(): number {
    return this.queues.reduce((sum, queue) => sum + queue.memoryBytes, 0);
  }

  private start(partition: number): void {
    if (!this.decision) this.appenders[partition].start();
  }

  private async endHold(decision: Promise<boolean>): Promise<boolean> {
    try {
      return await decision;
    } finally {
      this.decision = null;
      this.isDropping = false;
    }
  }

  private get failure(): Error | null {
    return this.appenders.find((appender) => appender.failure)?.failure ?? null;
  }

  private async waitWhile(mustWait: () => boolean): Promise<void> {
    const { signal, drainMs = 3_000 } = this.options;
    const started = performance.now();
    let expired = false;
    let timer: NodeJS.Timeout | undefined;
    const expire = (): void => {
      timer = setTimeout(() => {
        expired = true;
        this.wake();
      }, drainMs);
    };
    if (signal?.aborted) expire();
    else signal?.addEventListener('abort', expire, { once: true });
    try {
      while (mustWait() && !expired && !this.failure) {
        await new Promise<void>((resolve) => this.waiting.add(resolve));
      }
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', expire);
      this.waitedSeconds += (performance.now() - started) / 1000;
    }
    if (this.failure) throw this.failure;
  }

  private wake(): void {
    const woken = [...this.waiting];
    this.waiting.clear();
    for (const wake of woken) wake();
  }

  private changed(): void {
    this.noticeAway();
    this.spill();
    this.wake();
  }

  private noticeAway(): void {
    const reason = this.appenders.find((appender) => appender.away !== null)?.away ?? null;
    const where = this.options.spool ? 'the spool' : 'memory';
    if (reason !== null && this.awaySinceMs === null) {
      this.awaySinceMs = performance.now();
      this.options.onNotice?.(`the event log is unavailable, events wait in ${where}: ${reason}`);
    } else if (
      reason === null &&
      this.awaySinceMs !== null &&
      this.queues.every((queue) => queue.numSpooled === 0)
    ) {
      const seconds = ((performance.now() - this.awaySinceMs) / 1000).toFixed(1);
      this.options.onNotice?.(`the event log is back after ${seconds} s`);
      this.awaySinceMs = null;
      this.isFull = false;
    }
  }

  /** Moves records of partitions that the log does not take from memory to the spool, as far as there is room; one move at a time. */
  private spill(): void {
    if (this.spilling || this.awayQueues.length === 0) return;
    this.spilling = this.spillAll().finally(() => {
      this.spilling = null;
    });
  }

  private async spillAll(): Promise<void> {
    const { spool, maxMemoryBytes = 32 * 1024 * 1024, onNotice } = this.options;
    const maxBytes = spool?.maxBytes ?? 0;
    let numBytes: number;
    let reason: string;
    do {
      numBytes = 0;
      reason = spool ? `the spool holds ${this.spoolBytes} of ${maxBytes} bytes` : 'there is no spool';
      for (const queue of this.awayQueues) {
        try {
          numBytes += await queue.spill(maxBytes - this.spoolBytes);
        } catch (error) {
          reason = `the spool can't be written: ${(error as Error).message}`;
        }
      }
      this.peakBytes = Math.max(this.peakBytes, this.spoolBytes);
      if (numBytes > 0) this.wake();
    } while (numBytes > 0);
    if (this.isFull || this.memoryBytes <= maxMemoryBytes) return;
    this.isFull = true;
    onNotice?.(`episodes are paused until the event log is back: ${reason}`);
  }

  /** Queues with records in memory that the log does not take now. */
  private get awayQueues(): readonly PartitionQueue[] {
    if (this.closing.signal.aborted) return [];
    return this.queues.filter(
      (queue, partition) => this.appenders[partition].away !== null && queue.hasMemory,
    );
  }
}
