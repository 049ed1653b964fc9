import type { LogRecord } from '@retrace/log';
import { peekEnvelope, StepRecord } from '@retrace/trajectory/codec';
import { describePlaceFault } from '../admission/admission-fault.js';
import type { Admission } from '../admission/admission.js';
import { findTooLarge, judgeRecord, type RecordFault } from '../admission/admit-record.js';
import type { StreamPartition } from '../position/stream-partition.js';
import { type EncodedRows, EventRowsEncoder } from '../rows/event-rows.js';

/** One for all: nothing waits between its reading and its row. */
const step = new StepRecord();

/**
 * Records of one stream partition on their way into one insert. Each is decoded and encoded when it is appended, so that an
 * insert that is due has little left to do; one that holds no valid event, or none that counts beside the others, becomes a dead letter.
 */
export class PendingBatch {
  /** Of all records appended or passed over; -1 before the first. */
  firstOffset = -1;
  lastOffset = -1;
  numRecords = 0;
  /** Of the records in the log. */
  sizeBytes = 0;
  numDeadLetters = 0;
  /** Of the events. */
  readonly occurredAtMs: number[] = [];
  /** Where the first row of each run lies, by run id. */
  readonly firstOffsets = new Map<string, number>();
  private readonly encoder: EventRowsEncoder;

  constructor(
    position: StreamPartition,
    private readonly admission: Admission,
  ) {
    this.encoder = new EventRowsEncoder(position);
  }

  /** At most `numRecords`: what was passed over has none. */
  get numRows(): number {
    return this.encoder.numRows;
  }

  /** In the order of offsets. False, and nothing is appended, where the batch's admission has to learn about the record first. */
  append(record: LogRecord): boolean {
    return step.read(record.bytes) ? this.appendStep(record) : this.appendDecoded(record);
  }

  /** A record that gets no row, because its run is deleted. */
  passOver(record: LogRecord): true {
    this.count(record);
    return true;
  }

  /**
   * @param withWatermark whether a row goes along that says: the store has every row that it should have, up to the last offset
   */
  finish({ withWatermark }: { readonly withWatermark: boolean }): EncodedRows {
    if (withWatermark) this.encoder.append({ offset: this.lastOffset, watermark: true });
    return this.encoder.finish();
  }

  private appendStep(record: LogRecord): boolean {
    const tooLarge = findTooLarge(record, this.admission);
    if (tooLarge !== null) return this.appendDeadLetter(record, tooLarge);
    const episode = this.admission.episodeOf(step.runId, step.episodeId);
    if (episode === null) return false;
    const outcome = this.encoder.appendStep(record.offset, step, episode);
    if (outcome === 'invalid') return this.appendDecoded(record);
    episode.lastOffset = record.offset;
    if (outcome === 'written') return this.noteEvent(record, step);
    const { episodeId, seq } = step;
    return this.appendDeadLetter(
      record,
      describePlaceFault(outcome, { kind: 'StepRecorded', episodeId, seq }, episode),
    );
  }

  private appendDecoded(record: LogRecord): boolean {
    const judgement = judgeRecord(record, this.admission);
    if (judgement === null) return false;
    if (!judgement.ok) return this.appendDeadLetter(record, judgement);
    this.encoder.append(judgement.row);
    return this.noteEvent(record, judgement.event);
  }

  private appendDeadLetter(record: LogRecord, { code, reason }: RecordFault): true {
    const { offset, bytes } = record;
    this.encoder.append({ offset, deadLetter: { code, reason, bytes } });
    this.noteRun(peekEnvelope(bytes)?.runId ?? '', offset);
    this.numDeadLetters++;
    this.count(record);
    return true;
  }

  private noteEvent(
    record: LogRecord,
    { runId, occurredAtUs }: { readonly runId: string; readonly occurredAtUs: number },
  ): true {
    this.noteRun(runId, record.offset);
    this.occurredAtMs.push(occurredAtUs / 1000);
    this.count(record);
    return true;
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
