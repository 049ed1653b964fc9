import { setTimeout as sleep } from 'node:timers/promises';
import { type EventLog, readerAwaits, SINK_GROUP } from '@retrace/log';
import { TrajectoryError } from '@retrace/trajectory';
import type { DeletionWatch } from '../admission/deletion-watch.js';
import { PartitionAdmission } from '../admission/partition-admission.js';
import { BatchBuffer, type TakeOptions, type TakeResult } from '../batch/batch-buffer.js';
import { insertBatch } from '../batch/insert-batch.js';
import { InsertPace } from '../batch/insert-pace.js';
import { PendingBatch } from '../batch/pending-batch.js';
import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import { readNextOffset, readOtherLogIds } from '../position/store-position.js';
import type { StreamPartition } from '../rows/stream-partition.js';
import { deleteLateEpisodes, deleteLateRows, findLateRows, findLateRanges } from './late-rows.js';
import { OnePartCheck } from './one-part-check.js';
import type { ResolvedSinkOptions } from './sink-options.js';
import type { PartitionTracker } from './sink-progress.js';

/** Records of one read of the log, at most: small, so that decoding starts early. */
const READ_BYTES = 4 * 1024 * 1024;

export interface PartitionSinkParts {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly tracker: PartitionTracker;
  readonly options: ResolvedSinkOptions;
  /** Refuses a store of another log, if this sink is to. */
  readonly checkLogs: () => Promise<void>;
  /** The deletions that the log tells of. All partitions share one watch. */
  readonly watchDeletions: () => Promise<DeletionWatch>;
  readonly onProgress: () => void;
}

/**
 * Writes one stream partition of the log into the store.
 *
 * ```
 * log ─follow─▶ BatchBuffer: admit and encode each record ─take─▶ insertBatch ─▶ late rows, one part? ─▶ progress
 *                 ▲  └─ retry: PartitionAdmission.learn ─┘            │
 *                 └── the next batch fills during the insert ─────────┘
 * ```
 *
 * The position is the store's own last offset. Every start reads it and continues behind it, and a failed insert is never sent again:
 * whether it took effect shows in the next reading.
 */
export class PartitionSink {
  private readonly position: StreamPartition;
  private readonly where: string;
  private readonly onePartCheck: OnePartCheck;
  private backoffMs: number;
  /** A batch that reaches this offset gets a watermark. */
  private nextWatermark = 0;

  constructor(private readonly parts: PartitionSinkParts) {
    const { stream, partition } = parts.tracker;
    this.position = { logId: parts.log.logId, stream, partition };
    this.where = `partition ${partition} of stream ${stream}`;
    this.onePartCheck = new OnePartCheck(parts.client, this.position);
    this.backoffMs = parts.options.minBackoffMs;
  }

  /**
   * Resolves when `signal` aborts.
   *
   * @throws StoreError or LogError that no retry can mend
   */
  async run(signal: AbortSignal): Promise<void> {
    const { tracker, options, onProgress } = this.parts;
    while (!signal.aborted) {
      try {
        await this.follow(await this.assign(), signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof TrajectoryError) || !error.retriable) throw error;
        tracker.backOff(error);
        onProgress();
        await sleep(this.backoffMs, undefined, { signal }).catch(() => undefined);
        this.backoffMs = Math.min(2 * this.backoffMs, options.maxBackoffMs);
      }
    }
  }

  /** Reads where the store is and compares it with the log. Returns the offset to continue at. */
  private async assign(): Promise<number> {
    const { log, client, tracker } = this.parts;
    const { stream, partition } = tracker;
    await this.parts.checkLogs();
    const nextOffset = await readNextOffset(client, this.position);
    const startOffset = await log.startOffset(stream, partition);
    const endOffset = await log.endOffset(stream, partition);
    if (nextOffset < startOffset) {
      const message = `the log starts at ${startOffset}, the store needs ${nextOffset}: the records between are lost`;
      throw new StoreError('LOG_TRUNCATED', `In ${this.where} ${message}`);
    }
    if (nextOffset > endOffset) {
      const message = `the log ends at ${endOffset}, the store holds records up to ${nextOffset}: the log lost some`;
      throw new StoreError('LOG_BEHIND_STORE', `In ${this.where} ${message}`);
    }
    const { runs: deletedRuns } = await this.parts.watchDeletions();
    // A log that can release records finds out from these rows which ones, so they stay until then.
    if (log.release === undefined) {
      const ranges = await findLateRows(client, this.position, deletedRuns);
      await deleteLateRows(client, this.position, { nextOffset, ranges });
      await deleteLateEpisodes(client, this.position, { nextOffset, episodes: deletedRuns.allEpisodes });
    }
    tracker.sawEnd(endOffset);
    tracker.assigned(nextOffset, nextOffset === 0 ? await readOtherLogIds(client, log.logId) : []);
    this.nextWatermark = nextOffset;
    await this.publishPosition(nextOffset);
    return nextOffset;
  }

  private async follow(fromOffset: number, signal: AbortSignal): Promise<void> {
    const { log, client, tracker, options, watchDeletions } = this.parts;
    const { maxBatchRecords, maxBatchBytes, lingerMs } = options;
    const pace = new InsertPace(
      tracker.stream === 'control' ? options.minControlInsertIntervalMs : options.minInsertIntervalMs,
      options.insertBurst,
    );
    const { runs: deletedRuns } = await watchDeletions();
    const { position } = this;
    const admission = new PartitionAdmission({
      client,
      position,
      maxEventBytes: log.maxEventBytes,
      deletedRuns,
    });
    const buffer = new BatchBuffer({
      maxRecords: maxBatchRecords,
      maxBytes: maxBatchBytes,
      newBatch: () => new PendingBatch(position, admission, deletedRuns.allEpisodes.length),
      append: (batch, record) => batch.append(record),
      learn: (records) => admission.learn(records),
    });
    const stop = new AbortController();
    const source = log.follow(tracker.stream, tracker.partition, fromOffset, {
      signal: AbortSignal.any([signal, stop.signal]),
      maxRecords: maxBatchRecords,
      maxBytes: Math.min(maxBatchBytes, READ_BYTES),
    });
    const filled = buffer.fill(source);
    try {
      let nextOffset = fromOffset;
      while (!signal.aborted) {
        const taken = await this.take(buffer, { lingerMs, notBeforeMs: pace.notBeforeMs });
        if (taken.kind === 'ended') break;
        pace.started(performance.now());
        nextOffset = await this.insert(taken.batch, nextOffset);
        admission.stored(nextOffset);
      }
    } finally {
      stop.abort();
      buffer.discard();
      await filled;
    }
  }

  /** Takes the next batch, which lingers unless a reader waits for it. */
  private async take(
    buffer: BatchBuffer<PendingBatch>,
    options: TakeOptions,
  ): Promise<TakeResult<PendingBatch>> {
    const taken = new AbortController();
    // If the log can't be read, the partition's own reads fail too.
    this.hurryForReaders(buffer, taken.signal).catch(() => undefined);
    try {
      return await buffer.take(options);
    } finally {
      taken.abort();
    }
  }

  private async hurryForReaders(buffer: BatchBuffer<PendingBatch>, signal: AbortSignal): Promise<void> {
    const { log, tracker } = this.parts;
    const { stream, partition } = tracker;
    const offset = await buffer.firstOffset(signal);
    if (offset !== null && (await readerAwaits(log, { stream, partition, offset }, signal)))
      buffer.hurry(offset);
  }

  /** Returns the offset that the store continues at after the batch. */
  private async insert(batch: PendingBatch, expectedOffset: number): Promise<number> {
    const { log, client, tracker, options, onProgress } = this.parts;
    const { firstOffset: first, lastOffset: last, numRecords, numRows } = batch;
    const nextOffset = last + 1;
    // Dropped records have no row, so only a watermark says that the next start is behind them.
    const withWatermark = nextOffset >= this.nextWatermark || numRows < numRecords;
    await insertBatch(client, batch.finish({ withWatermark }));
    const published = this.publishPosition(nextOffset);
    await this.deleteRowsOfDeletedRuns(batch);
    await this.onePartCheck.afterInsert({ first, last, numRows });
    if (withWatermark) this.nextWatermark = nextOffset + options.watermarkInterval;
    this.backoffMs = options.minBackoffMs;
    tracker.sawEnd(await log.endOffset(tracker.stream, tracker.partition));
    tracker.inserted({
      nextOffset,
      numRows,
      numDeadLetters: batch.numDeadLetters,
      numBytes: batch.sizeBytes,
      numMissingOffsets: nextOffset - expectedOffset - numRecords,
      occurredAtMs: batch.occurredAtMs,
    });
    onProgress();
    await published;
    return nextOffset;
  }

  private async deleteRowsOfDeletedRuns(batch: PendingBatch): Promise<void> {
    const { client, watchDeletions } = this.parts;
    const deletions = await watchDeletions();
    await deletions.refresh();
    const ranges = findLateRanges(batch, this.position, deletions.runs);
    const nextOffset = batch.lastOffset + 1;
    await deleteLateRows(client, this.position, { nextOffset, ranges });
    const episodes = deletions.runs.allEpisodes.slice(batch.numDeletedBefore);
    await deleteLateEpisodes(client, this.position, { nextOffset, episodes });
  }

  /** Tells those who wait for the store. A failure does not stop the sink, since they also look there themselves. */
  private async publishPosition(nextOffset: number): Promise<void> {
    const { log, tracker } = this.parts;
    await log.commitCursor(SINK_GROUP, tracker.stream, tracker.partition, nextOffset).catch(() => undefined);
  }
}
