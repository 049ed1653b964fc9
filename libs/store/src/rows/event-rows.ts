import {
  type AnyEvent,
  contentChecksum,
  type EpisodePlaces,
  type EventKind,
  SCHEMA_VERSIONS,
  uuidFromBytes,
} from '@retrace/trajectory';
import { type PeekedEnvelope, peekEnvelope, type StepRecord } from '@retrace/trajectory/codec';
import type { ColumnBuilder } from '../arrow/column-builder.js';
import { encodeColumns, type EncodedColumns } from '../arrow/encode-columns.js';
import { NOTHING_TRACED, TracedInputsEncoder, type TracingRules } from './traced-inputs.js';
import type { StreamPartition } from './stream-partition.js';
import { type EventColumns, newEventColumns } from './event-columns.js';
import { PAYLOAD_FIELDS } from './payload-fields.js';
import type { RowField } from './row-field.js';
import type { EventRowReader } from './event-row-reader.js';
import { type StepOutcome, writeStepRecord } from './step-row.js';

/** Kind of the row of a record that was refused. */
export const DEAD_LETTER_KIND = '_dead_letter';
/** Kind of the row which says that every offset up to its own is in the store. */
export const WATERMARK_KIND = '_watermark';
/** Episode id of a watermark, so that it never shares a key with the record at its offset. */
export const WATERMARK_EPISODE_ID = '_watermark';

/** The row of an event; `checksum` is its `contentChecksum`. */
export interface RowOfEvent {
  readonly offset: number;
  readonly event: AnyEvent;
  readonly checksum: string;
}

/** One row of table `events`. */
export type EventRow =
  | RowOfEvent
  | { readonly offset: number; readonly deadLetter: DeadLetterRow }
  | { readonly offset: number; readonly watermark: true };

/** Makes the row of an event; the checksum is most of its cost. */
export function eventRow(offset: number, event: AnyEvent): RowOfEvent {
  return { offset, event, checksum: contentChecksum(event) };
}

export interface DeadLetterRow {
  readonly code: string;
  readonly reason: string;
  readonly bytes: Uint8Array;
}

/** Rows of table `events`, with those of other tables that follow from them. */
export interface EncodedRows extends EncodedColumns {
  /** Rows of `traced_inputs`; null where there is none. */
  readonly tracedInputs: EncodedColumns | null;
}

/** Columns of finished encoders, used again by the next ones because their memory is already allocated. */
const freeColumns: EventColumns[] = [];
/** One encoder is filled while the insert of another is under way. */
const MAX_FREE_COLUMNS = 2;

/** Collects rows of one stream partition for `INSERT INTO events (columns) FORMAT ArrowStream`. */
export class EventRowsEncoder {
  private readonly columns = freeColumns.pop() ?? newEventColumns();
  private numAppended = 0;
  private tracedInputs: TracedInputsEncoder | null = null;

  constructor(
    private readonly position: StreamPartition,
    /** For the rows of other tables; by default there are none. */
    private readonly rules: TracingRules = NOTHING_TRACED,
  ) {}

  get numRows(): number {
    return this.numAppended;
  }

  /** Appends a row; offsets must ascend. */
  append(row: EventRow): void {
    const { columns } = this;
    const at = this.appendPlace(row.offset);
    if ('event' in row) {
      writeEvent(columns, at, row.event, row.checksum);
      this.project(row.event);
    } else if ('deadLetter' in row) writeDeadLetter(columns, at, row.deadLetter);
    else writeWatermark(columns, at);
  }

  /** Appends the row of a step, read directly from its record's bytes; appends nothing unless the outcome is `written`. */
  appendStep(offset: number, step: StepRecord, places: EpisodePlaces): StepOutcome {
    const outcome = writeStepRecord(this.columns, this.numAppended, step, places);
    if (outcome.kind === 'written') this.appendPlace(offset);
    return outcome;
  }

  /** Encodes the rows. No more rows may be appended. */
  finish(): EncodedRows {
    const used = Object.entries<ColumnBuilder>(this.columns).filter(
      ([name, builder]) => builder.isUsed || name === COMPUTED_BY_DEFAULT,
    );
    const rows = encodeColumns(used, this.numAppended);
    for (const column of Object.values<ColumnBuilder>(this.columns)) column.clear();
    if (freeColumns.length < MAX_FREE_COLUMNS) freeColumns.push(this.columns);
    return { ...rows, tracedInputs: this.tracedInputs?.finish() ?? null };
  }

  /** Makes the rows of other tables that follow from an event. */
  private project(event: AnyEvent): void {
    if (event.kind !== 'UpdateTraced') return;
    this.tracedInputs ??= new TracedInputsEncoder();
    this.tracedInputs.append(event, this.rules);
  }

  private appendPlace(offset: number): number {
    const { columns, position } = this;
    const at = this.numAppended++;
    columns.log_id.set(at, position.logId);
    columns.log_stream.set(at, position.stream);
    columns.log_partition.set(at, position.partition);
    columns.log_offset.set(at, offset);
    return at;
  }
}

/** Reads the event in the current row, whose kind must be that of an event, lifted to the current schema version. */
export function readEventRow(row: EventRowReader): AnyEvent {
  const kind = row.text('kind') as EventKind;
  return {
    eventId: uuidFromBytes(Buffer.from(row.hex16('event_id'), 'hex')),
    kind,
    schemaVersion: SCHEMA_VERSIONS[kind],
    logId: row.text('log_id'),
    runId: row.text('run_id'),
    episodeId: row.text('episode_id'),
    seq: row.number('seq'),
    occurredAtUs: row.number('occurred_at'),
    payload: PAYLOAD_FIELDS[kind].read(row),
  } as AnyEvent;
}

function writeEvent(columns: EventColumns, row: number, event: AnyEvent, checksum: string): void {
  columns.run_id.set(row, event.runId);
  columns.episode_id.set(row, event.episodeId);
  columns.seq.set(row, event.seq);
  columns.kind.set(row, event.kind);
  columns.schema_version.set(row, event.schemaVersion);
  columns.event_id.set(row, event.eventId.replaceAll('-', ''));
  columns.content_checksum.set(row, checksum);
  columns.occurred_at.set(row, event.occurredAtUs);
  const fields = PAYLOAD_FIELDS[event.kind] as RowField<AnyEvent['payload']>;
  fields.write(columns, row, event.payload);
}

function writeDeadLetter(columns: EventColumns, row: number, { code, reason, bytes }: DeadLetterRow): void {
  const origin = peekEnvelope(bytes);
  columns.kind.set(row, DEAD_LETTER_KIND);
  columns.payload.set(row, JSON.stringify({ code, reason, ...(origin && toOrigin(origin)) }));
  columns.raw.set(row, bytes);
}

/** The owner of a dead letter's record. It is in the payload, because the key of the row holds only its place in the log. */
function toOrigin({ kind, schemaVersion, runId, episodeId, occurredAtUs }: PeekedEnvelope): object {
  return { kind, schemaVersion, runId, episodeId, occurredAtUs };
}

function writeWatermark(columns: EventColumns, row: number): void {
  columns.kind.set(row, WATERMARK_KIND);
  columns.episode_id.set(row, WATERMARK_EPISODE_ID);
}

/** Left out of an insert, the engine would compute it from the others. */
const COMPUTED_BY_DEFAULT = 'untrainable' satisfies keyof EventColumns;
