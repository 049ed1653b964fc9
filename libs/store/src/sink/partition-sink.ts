import { setTimeout as sleep } from 'node:timers/promises';
import { type EventLog, type LogRecord, SINK_GROUP } from '@retrace/log';
import { TrajectoryError } from '@retrace/trajectory';
import { PartitionAdmission } from '../admission/partition-admission.js';
import { BatchBuffer } from '../batch/batch-buffer.js';
import { insertBatch } from '../batch/insert-batch.js';
import { InsertPace } from '../batch/insert-pace.js';
import { PendingBatch } from '../batch/pending-batch.js';
import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import { readNextOffset, readOtherLogIds, readPartsOfRange } from '../position/store-position.js';
import type { StreamPartition } from '../position/stream-partition.js';
import { type DeletionWatch, isDeleted } from '../retention/deletion-watch.js';
import { deleteLateRows, findLateRows, type LateRange } from '../retention/late-rows.js';
import { EventRowsEncoder } from '../rows/event-rows.js';
import type { ResolvedSinkOptions } from './sink-options.js';
import type { PartitionTracker } from './sink-progress.js';

export interface PartitionSinkParts {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly tracker: PartitionTracker;
  readonly options: ResolvedSinkOptions;
  /** The deletions that the log tells of, one watch for all partitions: their records are passed over. */
  readonly watchDeletions: () => Promise<DeletionWatch>;
  readonly onProgress: () => void;
  /** Called when records have come, before they are inserted. */
  readonly onRecords?: () => void;
}

/**
 * Carries one stream partition from the log into the store.
 *
 * The store itself says how far it is. So every (re)start reads the last offset there and goes on after it, and a failed
 * insert is never sent again: whether it took effect shows in the next reading.
 */
export class PartitionSink {
  private readonly position: StreamPartition;
  private readonly where: string;
  private backoffMs: number;
  private buffer: BatchBuffer<PendingBatch> | null = null;
  /** The next batch carries a watermark when it ends this far. */
  private nextWatermark = 0;
  /** Batches up to this many records were seen to become one part. */
  private numRecordsProven = 0;

  constructor(private readonly parts: PartitionSinkParts) {
    const { stream, partition } = parts.tracker;
    this.position = { logId: parts.log.logId, stream, partition };
    this.where = `partition ${partition} of stream ${stream}`;
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
        tracker.failed(error);
        onProgress();
        await sleep(this.backoffMs, undefined, { signal }).catch(() => undefined);
        this.backoffMs = Math.min(2 * this.backoffMs, options.maxBackoffMs);
      }
    }
  }

  /** Inserts what the log holds now without letting it linger. */
  async hurry(): Promise<void> {
    const { log, tracker } = this.parts;
    this.buffer?.hurry((await log.endOffset(tracker.stream, tracker.partition)) - 1);
  }

  private async assign(): Promise<number> {
    const { log, client, tracker } = this.parts;
    const { stream, partition } = tracker;
    const nextOffset = await readNextOffset(client, this.position);
    const startOffset = await log.startOffset(stream, partition);
    const endOffset = await log.endOffset(stream, partition);
    if (nextOffset < startOffset) {
      const message = `the log starts at ${startOffset}, the store needs ${nextOffset}: what lay between is lost`;
      throw new StoreError('LOG_TRUNCATED', `In ${this.where} ${message}`);
    }
    if (nextOffset > endOffset) {
      const message = `the log ends at ${endOffset}, the store holds records up to ${nextOffset}: the log lost some`;
      throw new StoreError('LOG_BEHIND_STORE', `In ${this.where} ${message}`);
    }
    const deletions = await this.parts.watchDeletions();
    // A log that lets go of records learns from these rows which.
    if (log.release === undefined) {
      await this.deleteLate(nextOffset, await findLateRows(client, this.position, deletions.runs));
    }
    tracker.sawEnd(endOffset);
    tracker.assigned(nextOffset, nextOffset === 0 ? await readOtherLogIds(client, log.logId) : []);
    this.nextWatermark = nextOffset;
    await this.publishPosition(nextOffset);
    return nextOffset;
  }

  private async follow(fromOffset: number, signal: AbortSignal): Promise<void> {
    const { log, tracker, options } = this.parts;
    const { maxBatchRecords, maxBatchBytes, lingerMs } = options;
    const pace = new InsertPace(
      tracker.stream === 'control' ? options.minControlInsertIntervalMs : options.minInsertIntervalMs,
      options.insertBurst,
    );
    const { runs: deletedRuns } = await this.parts.watchDeletions();
    const stop = new AbortController();
    const admission = new PartitionAdmission({
      client: this.parts.client,
      position: this.position,
      maxEventBytes: log.maxEventBytes,
    });
    const buffer = new BatchBuffer({
      maxRecords: maxBatchRecords,
      maxBytes: maxBatchBytes,
      newBatch: () => new PendingBatch(this.position, admission),
      append: (batch, record) =>
        isDeleted(record, this.position, deletedRuns) ? batch.passOver(record) : batch.append(record),
      learn: (records) => admission.learn(records),
    });
    const source = log.follow(tracker.stream, tracker.partition, fromOffset, {
      signal: AbortSignal.any([signal, stop.signal]),
      maxRecords: maxBatchRecords,
      maxBytes: Math.min(maxBatchBytes, 4 * 1024 * 1024),
    });
    this.buffer = buffer;
    const filled = buffer.fill(this.announced(source));
    try {
      let nextOffset = fromOffset;
      while (!signal.aborted) {
        const batch = await buffer.take({ lingerMs, notBeforeMs: pace.notBeforeMs });
        if (batch === null) break;
        pace.started(performance.now());
        nextOffset = await this.insert(batch, nextOffset);
        admission.stored(nextOffset);
      }
    } finally {
      stop.abort();
      buffer.discard();
      await filled;
    }
  }

  private async *announced(source: AsyncIterable<LogRecord[]>): AsyncGenerator<LogRecord[]> {
    for await (const records of source) {
      this.parts.onRecords?.();
      yield records;
    }
  }

  private async insert(batch: PendingBatch, expectedOffset: number): Promise<number> {
    const { log, client, tracker, options, onProgress } = this.parts;
    const { firstOffset: first, lastOffset: last, numRecords, numRows } = batch;
    const nextOffset = last + 1;
    // What was passed over is accounted for, so that the next start goes on behind it.
    const withWatermark = nextOffset >= this.nextWatermark || numRows < numRecords;
    await insertBatch(client, batch.finish({ withWatermark }));
    const published = this.publishPosition(nextOffset);
    await this.deleteLate(nextOffset, await this.findLate(batch));
    await this.proveOnePart({ first, last, numRecords: numRows });
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

  /**
   * What of a batch belongs to a run whose deletion was acknowledged while the batch was on its way: its rows may have come after those
   * of the run were deleted.
   */
  private async findLate({ firstOffsets, lastOffset }: PendingBatch): Promise<LateRange[]> {
    const { tracker, watchDeletions } = this.parts;
    const deletions = await watchDeletions();
    await deletions.refresh();
    const { stream, partition } = tracker;
    return deletions.runs.endsOf(stream, partition).flatMap(({ runId, end }) => {
      const first = firstOffsets.get(runId);
      return first !== undefined && first < end ? [{ runId, first, end: Math.min(end, lastOffset + 1) }] : [];
    });
  }

  private async deleteLate(nextOffset: number, ranges: readonly LateRange[]): Promise<void> {
    if (ranges.length === 0) return;
    const { client } = this.parts;
    // The position stays where it is, whatever rows go.
    const encoder = new EventRowsEncoder(this.position);
    encoder.append({ offset: nextOffset - 1, watermark: true });
    await insertBatch(client, encoder.finish());
    for (const range of ranges) await deleteLateRows(client, this.position, range);
  }

  /** For those who wait for the store. A failure is no reason to insert nothing more: they look there of themselves, too. */
  private async publishPosition(nextOffset: number): Promise<void> {
    const { log, tracker } = this.parts;
    await log.commitCursor(SINK_GROUP, tracker.stream, tracker.partition, nextOffset).catch(() => undefined);
  }

  /**
   * Looks whether the batch became one part: for the first one, and again when one is twice as large as any seen. A few
   * queries in the life of a sink, each bound by the index on offsets.
   */
  private async proveOnePart(range: {
    readonly first: number;
    readonly last: number;
    readonly numRecords: number;
  }): Promise<void> {
    if (range.numRecords < 2 * this.numRecordsProven || range.numRecords < 2) return;
    const { numRows, numParts } = await readPartsOfRange(this.parts.client, this.position, range);
    // More rows than records: another sink inserted some of them too, so its parts count along.
    if (numRows === range.numRecords && numParts > 1) {
      const what = `offsets ${range.first} to ${range.last} of ${this.where} became ${numParts} parts`;
      const rule = 'must become one; check the insert block sizes in the settings of the store';
      throw new StoreError('INSERT_NOT_ATOMIC', `One insert of ${what}; ${rule}`);
    }
    this.numRecordsProven = range.numRecords;
  }
}
