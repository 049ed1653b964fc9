import { setImmediate } from 'node:timers/promises';
import {
  LogError,
  choosePartition,
  type EventLog,
  type GroupCursor,
  type PartitionRecords,
} from '@retrace/log';
import { type AnyEvent } from '@retrace/trajectory';
import { encodeEvent, type KnownEvents } from '@retrace/trajectory/codec';
import { Hold } from './hold.js';
import { Overflow } from './overflow.js';
import { isSmall, PartitionAppender, type AppendTiming } from './partition-appender.js';
import { PartitionQueue } from './partition-queue.js';
import { openSpool, type SpoolOptions } from './open-spool.js';

const DEFAULT_MAX_MEMORY_BYTES = 32 * 1024 * 1024;

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
  private readonly overflow: Overflow;
  private readonly held = new Hold({
    released: () => {
      if (!this.isAwaited) this.startAll();
    },
    dropped: () => {
      this.drop();
    },
  });
  private readonly timing: AppendTiming;
  /** Whether the caller of `decided` appends what was held. */
  private isAwaited = false;
  /** Whether all that waits is appended at once. */
  private isEnding = false;
  private waitedSeconds = 0;
  /** When nothing waits for the log any longer; null before the signal has aborted. */
  private drainedAtMs: number | null = null;

  private constructor(
    private readonly log: EventLog,
    private readonly options: TrajectoryWriterOptions,
    opened: Awaited<ReturnType<typeof openSpool>> | null,
  ) {
    const { awayAfterMs = 5_000, appendDeadlineMs = 150_000, retryAfterMs = 50 } = options;
    const timing = { awayAfterMs, appendDeadlineMs, retryAfterMs };
    this.timing = timing;
    const partitions = Array.from({ length: log.numPartitions('trajectories') }, (_, partition) => partition);
    this.queues = partitions.map((partition) => new PartitionQueue(opened?.spools[partition] ?? null));
    this.appenders = this.queues.map(
      (queue, partition) =>
        new PartitionAppender({
          ...{ log, partition, queue, ...timing, closing: this.closing.signal },
          onChange: () => {
            this.changed();
          },
        }),
    );
    const { queues, appenders } = this;
    this.overflow = new Overflow({
      ...{ queues, appenders, closing: this.closing.signal },
      spool: options.spool,
      maxMemoryBytes: options.maxMemoryBytes ?? DEFAULT_MAX_MEMORY_BYTES,
      onNotice: options.onNotice,
      onMoved: () => {
        this.wake();
      },
    });
  }

  /**
   * Opens the spool with the records that an earlier writer left there; the next `flush` appends them.
   *
   * @throws CollectorError `SPOOL_UNUSABLE`
   */
  static async open(log: EventLog, options: TrajectoryWriterOptions = {}): Promise<TrajectoryWriter> {
    const opened = options.spool ? await openSpool(log, options.spool) : null;
    if (opened && opened.numRecords + opened.numCutBytes > 0) {
      const cut = opened.numCutBytes > 0 ? `; cut ${opened.numCutBytes} damaged bytes off its end` : '';
      options.onNotice?.(`appending ${opened.numRecords} events from the spool${cut}`);
    }
    return new TrajectoryWriter(log, options, opened);
  }

  /** Bytes that the spool takes on disk. */
  get spoolBytes(): number {
    return this.overflow.spoolBytes;
  }

  /** The most that the spool took since the last call. */
  takePeakSpoolBytes(): number {
    return this.overflow.takePeakBytes();
  }

  /** Seconds that rollouts waited for the log since the last call. */
  takeWaitedSeconds(): number {
    const seconds = this.waitedSeconds;
    this.waitedSeconds = 0;
    return seconds;
  }

  /** Seconds that rollouts waited, at the end of a round, until what is held might be appended, since the last call. */
  takeHeldSeconds(): number {
    return this.held.takeAwaitedSeconds();
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
    if (this.held.isDropping) return;
    this.options.known?.remember(event, bytes);
    const partition = choosePartition(event.runId, event.episodeId, this.queues.length);
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
    this.overflow.spill();
    // Also where nothing waits: a generated token lets nobody else use the thread, which a trainer may share.
    await setImmediate();
    const { maxMemoryBytes = DEFAULT_MAX_MEMORY_BYTES } = this.options;
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
    return this.held.begin(mayAppend);
  }

  /**
   * Resolves once it is decided whether what is held may be appended, and does not append it yet: with true also where nothing is held.
   *
   * @throws the error of the decision that `hold` waits for
   */
  async decided(): Promise<boolean> {
    this.isAwaited = true;
    try {
      return await this.held.decided();
    } finally {
      this.isAwaited = false;
    }
  }

  /**
   * Appends everything written so far together with what may only be in the log behind it, which spares the log a commit. Resolves with false where
   * it can't be known that this is done, as with an unavailable log or with much to append: `flush`, and append it then.
   *
   * @throws the error of an append that no retry can fix
   */
  async appendWith(last: PartitionRecords, cursors: readonly GroupCursor[]): Promise<boolean> {
    await this.waitWhile(() => this.isEnding);
    // What others write meanwhile is appended afterwards.
    this.isEnding = true;
    try {
      return await this.appendTogether(last, cursors);
    } finally {
      this.isEnding = false;
      this.startAll();
      this.wake();
    }
  }

  private async appendTogether(last: PartitionRecords, cursors: readonly GroupCursor[]): Promise<boolean> {
    for (const appender of this.appenders) appender.rest();
    await this.waitWhile(() => this.appenders.some((appender) => appender.isBusy));
    const { log, queues } = this;
    if (this.appenders.some((appender) => appender.isUnsure) || !queues.every(isSmall)) return false;
    const written = queues
      .map((queue, partition) => ({ stream: 'trajectories', partition, records: queue.inMemory() }) as const)
      .filter(({ records }) => records.length > 0);
    const stages = written.length > 0 ? [written, [last]] : [[last]];
    const appenders = written.map(({ partition }) => this.appenders[partition]);
    if (!(await this.settled(log.appendInStages(stages, cursors), appenders))) return false;
    await Promise.all(written.map(({ partition, records }) => queues[partition].acknowledge(records.length)));
    this.overflow.noticeAway();
    return true;
  }

  /** Whether an append for these partitions landed; false where that is unknown: it failed, but may be retried, or does not settle. */
  private async settled(append: Promise<void>, appenders: readonly PartitionAppender[]): Promise<boolean> {
    const { awayAfterMs, appendDeadlineMs } = this.timing;
    let state: 'under way' | 'landed' | 'unknown' = 'under way';
    let failure: Error | null = null;
    const settle = (to: typeof state): void => {
      state = to;
      for (const appender of appenders) appender.away = null;
      this.wake();
    };
    const late = (): void => {
      for (const appender of appenders)
        appender.away = `the append that ends a round has taken more than ${awayAfterMs} ms`;
      this.changed();
    };
    const timers = [setTimeout(late, awayAfterMs), setTimeout(settle, appendDeadlineMs, 'unknown')];
    append.then(
      () => {
        settle('landed');
      },
      (error: unknown) => {
        if (!(error instanceof LogError && error.retriable)) failure = error as Error;
        settle('unknown');
      },
    );
    await this.waitWhile(() => state === 'under way');
    timers.forEach(clearTimeout);
    if (failure) throw failure;
    return (state as string) === 'landed';
  }

  private drop(): void {
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
    if (!(await this.held.decided())) return false;
    this.startAll();
    await this.waitWhile(() => this.queues.some((queue) => !queue.isEmpty));
    return this.queues.every((queue) => queue.isEmpty);
  }

  /**
   * Moves unacknowledged records to the spool, even beyond its limit, and closes it: the next writer appends them. Those that are held are
   * dropped. Resolves with the number of bytes that stay there.
   */
  async close(): Promise<number> {
    if (this.held.isOn) this.held.drop();
    this.closing.abort();
    await Promise.all([this.overflow.spilling, ...this.appenders.map((appender) => appender.stopped())]);
    for (const queue of this.queues) {
      await queue.spill(Number.POSITIVE_INFINITY);
      await queue.spool?.close();
    }
    return this.queues.every((queue) => queue.isEmpty) ? 0 : this.spoolBytes;
  }

  /** Bytes of unacknowledged records in memory, including those of appends under way. */
  get memoryBytes(): number {
    return this.overflow.memoryBytes;
  }

  private start(partition: number): void {
    if (!this.held.isOn && !this.isEnding) this.appenders[partition].start();
  }

  private startAll(): void {
    this.queues.forEach((_, partition) => {
      this.start(partition);
    });
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
      this.drainedAtMs ??= performance.now() + drainMs;
      timer = setTimeout(() => {
        expired = true;
        this.wake();
      }, this.drainedAtMs - performance.now());
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
    this.overflow.noticeAway();
    this.overflow.spill();
    this.wake();
  }
}
