import { decodeEvent, peekEnvelope, StepRecord } from '../../../codec/index.js';
import type { LogRecord } from '../../../event-log.js';
import { eventRow, EventRowsEncoder, type EncodedRows, type StreamPartition } from '../../arrow/index.js';

/** One for all: nothing waits between its reading and its row. */
const step = new StepRecord();

/**
 * Records of one stream partition on their way into one insert. Each is decoded and encoded when it is appended, so that an
 * insert that is due has little left to do; one that holds no valid event becomes a dead letter.
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

  constructor(position: StreamPartition) {
    this.encoder = new EventRowsEncoder(position);
  }

  /** At most `numRecords`: what was passed over has none. */
  get numRows(): number {
    return this.encoder.numRows;
  }

  /** In the order of offsets. */
  append(record: LogRecord): void {
    const { offset, bytes } = record;
    if (step.read(bytes) && this.encoder.appendStep(offset, step)) {
      this.noteRun(step.runId, offset);
      this.occurredAtMs.push(step.occurredAtUs / 1000);
      this.count(record);
    } else this.appendDecoded(record);
  }

  /** A record that gets no row, because its run is deleted. */
  passOver(record: LogRecord): void {
    this.count(record);
  }

  /**
   * @param withWatermark whether a row goes along that says: the store has every row that it should have, up to the last offset
   */
  finish({ withWatermark }: { readonly withWatermark: boolean }): EncodedRows {
    if (withWatermark) this.encoder.append({ offset: this.lastOffset, watermark: true });
    return this.encoder.finish();
  }

  private appendDecoded(record: LogRecord): void {
    const { offset, bytes } = record;
    const decoded = decodeEvent(bytes);
    if (decoded.ok) {
      this.encoder.append(eventRow(offset, decoded.event));
      this.noteRun(decoded.event.runId, offset);
      this.occurredAtMs.push(decoded.event.occurredAtUs / 1000);
    } else {
      const { code, reason } = decoded;
      this.encoder.append({ offset, deadLetter: { code, reason, bytes } });
      this.noteRun(peekEnvelope(bytes)?.runId ?? '', offset);
      this.numDeadLetters++;
    }
    this.count(record);
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
