import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from '@retrace/log';
import { type Stream, TrajectoryError } from '@retrace/trajectory';
import { DeletionWatch } from '../admission/deletion-watch.js';
import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import { refuseOtherLogs } from '../position/other-logs.js';
import { listStreamPartitions } from '../rows/stream-partition.js';
import { PartitionSink } from './partition-sink.js';
import { type ResolvedSinkOptions, resolveSinkOptions, type SinkOptions } from './sink-options.js';
import { type PartitionProgress, PartitionTracker, type SinkProgress } from './sink-progress.js';

/** One of `count` sinks that split the partitions among them; `index` counts from 0. */
export interface SinkShare {
  readonly index: number;
  readonly count: number;
}

export interface SinkRun {
  readonly log: EventLog;
  readonly client: StoreClient;
  /** Ends the run; the insert under way is finished first. */
  readonly signal: AbortSignal;
  /** Which partitions this sink writes when several sinks share them: every `count`-th from `index` on (default all). */
  readonly share?: SinkShare;
  /** Whether a store that has events of another log is refused (default: not). */
  readonly refusesOtherLogs?: boolean;
  /** Called after every insert and every failure; cheap, because it may come often. */
  readonly onProgress?: (progress: SinkProgress) => void;
  /** Receives one line when a partition fails for a reason that a retry may not mend. */
  readonly onNotice?: (line: string) => void;
}

/**
 * Writes the event log into the store's table `events`; reads return each record once.
 *
 * One insert holds contiguous offsets of one stream partition and becomes one part, so a batch is in the store completely or not at all.
 * The sink continues at the store's own last offset. Any number of sinks may run over one log: rows that two of them insert have equal
 * keys, and reads return the first.
 */
export class Sink {
  private readonly options: ResolvedSinkOptions;
  private trackers: readonly PartitionTracker[] = [];

  constructor(options: SinkOptions = {}) {
    this.options = resolveSinkOptions(options);
  }

  /**
   * Resolves when `signal` aborts. Waits while the store is unavailable. A partition that fails for a reason that a retry may not mend
   * is retried after a while, and the others continue.
   *
   * @throws StoreError `STORE_OF_OTHER_LOG`, `LOG_TRUNCATED`, `LOG_BEHIND_STORE`, `INSERT_NOT_ATOMIC`, `STORE_AUTHENTICATION_FAILED`, a
   *   `STORE_EXCEPTION` that no retry can mend, or LogError, when every partition has failed. All have stopped then.
   */
  async run(run: SinkRun): Promise<void> {
    const { log, client, signal, share = { index: 0, count: 1 }, onProgress } = run;
    this.trackers = listStreamPartitions(log)
      .filter((_, i) => i % share.count === share.index)
      .map(({ stream, partition }) => new PartitionTracker(stream, partition));
    const failed = new AbortController();
    const stop = AbortSignal.any([signal, failed.signal]);
    const report = (): void => onProgress?.(this.progress());
    const watchDeletions = onceSuccessful(() => DeletionWatch.open(log, client));
    const checkLogs = onceSuccessful(async () => {
      if (run.refusesOtherLogs === true) await refuseOtherLogs(client, log.logId);
    });
    const parts = { log, client, options: this.options, checkLogs, watchDeletions, onProgress: report };
    const sinks = this.trackers.map((tracker) => ({
      tracker,
      sink: new PartitionSink({ ...parts, tracker }),
    }));
    const runs = sinks.map(async ({ tracker, sink }) => {
      try {
        await this.keepRunning(sink, tracker, { ...run, signal: stop });
      } catch (error) {
        failed.abort();
        throw error;
      } finally {
        tracker.end(new StoreError('NOT_YET_VISIBLE', 'The sink has stopped', { retriable: true }));
      }
    });
    await Promise.allSettled(runs);
    await Promise.all(runs);
  }

  /**
   * Runs one partition until the signal aborts, through failures.
   *
   * @throws what it failed with, when all others have failed too
   */
  private async keepRunning(
    sink: PartitionSink,
    tracker: PartitionTracker,
    { signal, onProgress, onNotice }: SinkRun,
  ): Promise<void> {
    const { failedRetryMs } = this.options;
    while (!signal.aborted) {
      try {
        await sink.run(signal);
      } catch (error) {
        if (!(error instanceof TrajectoryError)) throw error;
        tracker.fail(error);
        onProgress?.(this.progress());
        if (this.trackers.every(({ isFailed }) => isFailed)) throw error;
        const where = `Partition ${tracker.partition} of stream ${tracker.stream}`;
        const next = `is retried in ${failedRetryMs / 1000} s; the other partitions continue`;
        onNotice?.(`${where} failed (${error.code}) and ${next}: ${error.message}`);
        await sleep(failedRetryMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Where every partition is; empty before `run`. */
  progress(): SinkProgress {
    return { partitions: this.trackers.map((tracker) => tracker.snapshot()) };
  }

  /**
   * Resolves when the record at `offset` of a stream partition can be read from the store.
   *
   * @throws the reason of `signal` when it aborts first; StoreError `NOT_YET_VISIBLE` when the sink stops first
   * @throws RangeError when the running sink has no such partition
   */
  async caughtUpTo(
    stream: Stream,
    partition: number,
    offset: number,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    await this.trackerOf(stream, partition).reached(offset, signal);
  }

  /**
   * Where one partition is.
   *
   * @throws RangeError when the running sink has no such partition
   */
  progressOf(stream: Stream, partition: number): PartitionProgress {
    return this.trackerOf(stream, partition).snapshot();
  }

  private trackerOf(stream: Stream, partition: number): PartitionTracker {
    const tracker = this.trackers.find((each) => each.stream === stream && each.partition === partition);
    if (tracker !== undefined) return tracker;
    throw new RangeError(
      `Partition ${partition} of stream ${stream} is not one of the partitions of the running sink`,
    );
  }
}

/** Makes a value at the first call; after a failure, at the next one again. */
function onceSuccessful<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    }));
}
