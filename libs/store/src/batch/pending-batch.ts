import type { LogRecord } from '@retrace/log';
import { peekEnvelope, StepRecord } from '@retrace/trajectory/codec';
import { type AdmissionFault, describePlaceFault, findTooLarge } from '../admission/admission-fault.js';
import { DROPPED, type RefusedRecord, RETRY } from '../admission/admission-result.js';
import type { Admission } from '../admission/admission.js';
import { admitRecord } from '../admission/admit-record.js';
import type { StreamPartition } from '../rows/stream-partition.js';
import { type EncodedRows, EventRowsEncoder } from '../rows/event-rows.js';
import { ACCEPTED, type AppendResult, DEAD_LETTER } from './append-result.js';

/** Used synchronously, from the reading of a record to its row, so one is shared. */
const step = new StepRecord();

/** The owner of the step that was read last. */
const STEP_OWNER = {
  kind: 'StepRecorded',
  get runId() {
    return step.runId;
  },
  get episodeId() {
    return step.episodeId;
  },
};

/**
 * The records of one stream partition that go into one insert.
 *
 * Each record is decoded, admitted and encoded when it is appended, so that an insert that is due has little left to do. Steps, which are
 * nearly all records, take a short way: their columns are copied from the record's bytes without an event in between.
 */
export class PendingBatch {
  /** Of all records appended; -1 before the first. */
  firstOffset = -1;
  lastOffset = -1;
  numRecords = 0;
  /** Of the records in the log. */
  sizeBytes = 0;
  numDeadLetters = 0;
  /** Of the events. */
  readonly occurredAtMs: number[] = [];
  /** The offset of the first row of each run, by run id. */
  readonly firstOffsets = new Map<string, number>();
  private readonly encoder: EventRowsEncoder;

  constructor(
    position: StreamPartition,
    private readonly admission: Admission,
    /** Deleted episodes that were known when the batch was begun: the first of `DeletedRuns.allEpisodes`. */
    readonly numDeletedBefore = 0,
  ) {
    this.encoder = new EventRowsEncoder(position, admission);
  }

  /** At most `numRecords`: a record of a deleted run has no row. */
  get numRows(): number {
    return this.encoder.numRows;
  }

  /** Takes the next record in log order. After `retry` nothing has changed. */
  append(record: LogRecord): AppendResult {
    return step.read(record.bytes) ? this.appendStep(record) : this.appendDecoded(record);
  }

  /** @param withWatermark adds a row which says that the store has every row it should have, up to the last offset */
  finish({ withWatermark }: { readonly withWatermark: boolean }): EncodedRows {
    if (withWatermark) this.encoder.append({ offset: this.lastOffset, watermark: true });
    return this.encoder.finish();
  }

  /** Does what `admitRecord` and the row of its event would do. */
  private appendStep(record: LogRecord): AppendResult {
    if (this.admission.isDeleted(record, STEP_OWNER)) return this.drop(record);
    const tooLarge = findTooLarge(record, this.admission);
    if (tooLarge !== undefined) return this.appendDeadLetter(record, tooLarge);
    const places = this.admission.findPlaces(step.runId, step.episodeId);
    if (places === undefined) return RETRY;
    const outcome = this.encoder.appendStep(record.offset, step, places);
    if (outcome.kind === 'invalid') return this.appendDecoded(record);
    places.lastOffset = record.offset;
    if (outcome.kind === 'written') return this.noteEvent(record, step);
    const { episodeId, seq } = step;
    const misplaced = { kind: 'StepRecorded', episodeId, seq } as const;
    return this.appendDeadLetter(record, describePlaceFault(outcome.fault, misplaced, places));
  }

  private appendDecoded(record: LogRecord): AppendResult {
    const result = admitRecord(record, this.admission);
    switch (result.kind) {
      case 'accepted':
        this.encoder.append({ offset: record.offset, event: result.event, checksum: result.checksum });
        return this.noteEvent(record, result.event);
      case 'deadLetter':
        return this.appendDeadLetter(record, result);
      case 'dropped':
        return this.drop(record);
      case 'retry':
        return result;
    }
  }

  private appendDeadLetter(
    record: LogRecord,
    { code, reason }: RefusedRecord | AdmissionFault,
  ): AppendResult {
    const { offset, bytes } = record;
    this.encoder.append({ offset, deadLetter: { code, reason, bytes } });
    this.noteRun(peekEnvelope(bytes)?.runId ?? '', offset);
    this.numDeadLetters++;
    this.count(record);
    return DEAD_LETTER;
  }

  private noteEvent(
    record: LogRecord,
    { runId, occurredAtUs }: { readonly runId: string; readonly occurredAtUs: number },
  ): AppendResult {
    this.noteRun(runId, record.offset);
    this.occurredAtMs.push(occurredAtUs / 1000);
    this.count(record);
    return ACCEPTED;
  }

  private drop(record: LogRecord): AppendResult {
    this.count(record);
    return DROPPED;
  }

  private noteRun(runId: string, offset: number): void {
    if (!this.firstOffsets.has(runId)) this.firstOffsets.set(runId, offset);
  }

  private count({ offset, bytes }: LogRecord): void {
    if (this.numRecords === 0) this.firstOffset = offset;
    this.lastOffset = offset;
    this.numRecords++;
    this.sizeBytes += bytes.length;
  }
}
