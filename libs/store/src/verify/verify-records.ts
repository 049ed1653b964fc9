import type { EventLog, LogRecord } from '@retrace/log';
import { type AnyEvent, type DeletedRuns, type Stream, uuidToBytes } from '@retrace/trajectory';
import { decodeEvent, peekEnvelope } from '@retrace/trajectory/codec';
import type { DecidedRecord } from '../admission/admission-result.js';
import type { Admission } from '../admission/admission.js';
import { decideRecord } from '../admission/admit-record.js';
import { PartitionAdmission } from '../admission/partition-admission.js';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import type { StoreClient } from '../client/store-client.js';
import { hasRecordIn } from '../position/backlog.js';
import { readNextOffset } from '../position/store-position.js';
import { IN_STREAM_PARTITION } from '../rows/stream-partition.js';
import { EventRowReader } from '../rows/event-row-reader.js';
import { DEAD_LETTER_KIND, WATERMARK_EPISODE_ID } from '../rows/event-rows.js';
import type { FaultList } from './fault-list.js';

export interface RecordCounts {
  numRecords: number;
  numDeadLetters: number;
  /** Dead letters whose place in an episode an earlier record holds, with other content. */
  numConflicts: number;
  /** Rows beyond the first of each record. They are harmless, because reads hide them. */
  numRepeatedRows: number;
  /** Records of deleted runs that the log still has. */
  numDeletedRecords: number;
  /** Records at the end of the log that the sink has not written yet. */
  numPending: number;
}

export interface RecordsToVerify {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly stream: Stream;
  readonly partition: number;
  readonly deletedRuns: DeletedRuns;
  readonly faults: FaultList;
  readonly counts: RecordCounts;
  readonly signal: AbortSignal | undefined;
  /** Called with each record in log order; null for one that holds no event. */
  readonly onRecord: (offset: number, event: AnyEvent | null) => void;
}

const SLICE = { maxRecords: 5_000, maxBytes: 8 * 1024 * 1024 };

const ROWS_OF_RANGE = `
  SELECT log_offset, kind, event_id, content_checksum, occurred_at, raw
  FROM events
  WHERE ${IN_STREAM_PARTITION}
    AND log_offset BETWEEN {first:UInt64} AND {last:UInt64} AND episode_id != '${WATERMARK_EPISODE_ID}'
  ORDER BY log_offset`;

/** Compares one stream partition, record by record, with the rows at the same offsets. Holds one slice of both at a time. */
export async function verifyRecords(job: RecordsToVerify): Promise<void> {
  const { log, client, stream, partition, faults, counts, signal } = job;
  const position = { logId: log.logId, stream, partition };
  const endOffset = await log.endOffset(stream, partition);
  const storedEnd = await readNextOffset(client, position);
  // The log may have grown since its end was read, and a sink may have written that.
  const newestEnd = storedEnd > endOffset ? await log.endOffset(stream, partition) : endOffset;
  if (storedEnd > newestEnd) {
    const message = `the log ends at ${newestEnd}, the store holds records up to ${storedEnd}: the log lost records`;
    faults.add('STORE_AHEAD_OF_LOG', `${stream}/${partition}`, message);
  }
  const startOffset = await log.startOffset(stream, partition);
  if (storedEnd < startOffset) {
    const message = `the log starts at ${startOffset}, the store holds records up to ${storedEnd}: the records between are lost`;
    faults.add('LOG_TRUNCATED', `${stream}/${partition}`, message);
  }
  const visibleEnd = Math.min(endOffset, storedEnd);
  const { maxEventBytes } = log;
  const admission = new PartitionAdmission({ client, position, maxEventBytes, deletedRuns: job.deletedRuns });
  let next = startOffset;
  while (next < visibleEnd) {
    signal?.throwIfAborted();
    const read = await log.read(stream, partition, next, SLICE);
    const records = read.filter(({ offset }) => offset < visibleEnd);
    const last =
      records.length === read.length && read.length > 0 ? read[read.length - 1].offset : visibleEnd - 1;
    const params = { ...position, first: next, last };
    const expected = await expectRows(job, records, admission);
    const rows = new EventRowReader(ArrowColumns.read(await client.queryArrow(ROWS_OF_RANGE, { params })));
    compare(job, expected, rows);
    counts.numRecords += records.length;
    next = last + 1;
    admission.stored(next);
  }
  const from = Math.max(visibleEnd, startOffset);
  if (await hasRecordIn(log, { stream, partition, from, end: endOffset }))
    counts.numPending += endOffset - from;
}

/** Walks records and rows side by side, both by offset. */
function compare(job: RecordsToVerify, expectedRows: readonly ExpectedRow[], rows: EventRowReader): void {
  const { faults, stream, partition, counts } = job;
  const where = (offset: number): string => `${stream}/${partition} offset ${offset}`;
  const passUnknownRowsBefore = (offset: number): void => {
    for (; rows.row < rows.numRows && rows.number('log_offset') < offset; rows.row++) {
      faults.add(
        'ROW_UNKNOWN',
        where(rows.number('log_offset')),
        `the log has no record at this offset; the store has a ${rows.text('kind')}`,
      );
    }
  };
  for (const expected of expectedRows) {
    const { offset, isDeleted } = expected;
    passUnknownRowsBefore(offset);
    if (isDeleted) counts.numDeletedRecords++;
    let numRows = 0;
    for (; rows.row < rows.numRows && rows.number('log_offset') === offset; rows.row++) {
      const difference = isDeleted ? null : compareRow(expected, rows);
      if (difference !== null) faults.add('ROW_DIFFERS', where(offset), difference);
      if (isDeleted) {
        faults.add(
          'ROW_OF_DELETED_RUN',
          where(offset),
          `run ${expected.runId} or this episode of it was deleted; the store still has a row of it`,
        );
      }
      numRows++;
    }
    if (isDeleted) continue;
    if (numRows === 0) faults.add('ROW_MISSING', where(offset), 'the store has no row for this record');
    else counts.numRepeatedRows += numRows - 1;
  }
  passUnknownRowsBefore(Infinity);
}

/** Fields that every row at the offset of a record must hold. */
interface ExpectedRow {
  readonly offset: number;
  readonly isDeleted: boolean;
  readonly kind: string;
  /** Of a dead letter: what its envelope says. */
  readonly runId: string;
  readonly eventIdHex: string;
  readonly checksumHex: string;
  readonly occurredAtUs: number;
  /** Of a dead letter; empty for an event. */
  readonly raw: Uint8Array;
}

const NO_ID = '0'.repeat(32);

/** Finds what the rows of a slice must hold, by deciding about each record as the sink does. */
async function expectRows(
  { counts, onRecord }: Pick<RecordsToVerify, 'counts' | 'onRecord'>,
  records: readonly LogRecord[],
  admission: Admission,
): Promise<ExpectedRow[]> {
  const expected: ExpectedRow[] = [];
  for (const [i, record] of records.entries()) {
    const result = await decideRecord(records, i, admission);
    expected.push(expectedRow(record, result));
    onRecord(record.offset, findEvent(record, result));
    if (result.kind !== 'deadLetter') continue;
    counts.numDeadLetters++;
    if (result.code === 'CONFLICT') counts.numConflicts++;
  }
  return expected;
}

/** The event of a record as the folds see it, which know of deleted runs too; null where it holds none that counts. */
function findEvent({ bytes }: LogRecord, result: DecidedRecord): AnyEvent | null {
  switch (result.kind) {
    case 'accepted':
      return result.event;
    case 'deadLetter':
      return null;
    case 'dropped': {
      const decoded = decodeEvent(bytes);
      return decoded.ok ? decoded.event : null;
    }
  }
}

function expectedRow(record: LogRecord, result: DecidedRecord): ExpectedRow {
  switch (result.kind) {
    case 'dropped':
      return { ...toDeadLetter(record), isDeleted: true };
    case 'deadLetter':
      return toDeadLetter(record);
    case 'accepted': {
      const { event, checksum } = result;
      return {
        offset: record.offset,
        isDeleted: false,
        kind: event.kind,
        runId: event.runId,
        eventIdHex: uuidToBytes(event.eventId).toString('hex'),
        checksumHex: checksum,
        occurredAtUs: event.occurredAtUs,
        raw: new Uint8Array(0),
      };
    }
  }
}

function toDeadLetter({ offset, bytes }: LogRecord): ExpectedRow {
  return {
    offset,
    isDeleted: false,
    kind: DEAD_LETTER_KIND,
    runId: peekEnvelope(bytes)?.runId ?? '',
    eventIdHex: NO_ID,
    checksumHex: NO_ID,
    occurredAtUs: 0,
    raw: bytes,
  };
}

/** Describes how a row differs from its record; null when it agrees. */
function compareRow(expected: ExpectedRow, row: EventRowReader): string | null {
  const kind = row.text('kind');
  const eventIdHex = row.hex16('event_id');
  if (kind === DEAD_LETTER_KIND && expected.kind !== kind)
    return `the record is a ${expected.kind}; the row is a dead letter, which \`retrace deadletters retry\` repairs`;
  if (expected.kind === DEAD_LETTER_KIND && kind !== expected.kind)
    return `the record is a dead letter; the row is a ${kind}, which \`retrace rebuild\` repairs`;
  if (kind !== expected.kind) return `the record is a ${expected.kind}; the row is a ${kind}`;
  if (eventIdHex !== expected.eventIdHex)
    return `the record is event ${expected.eventIdHex}; the row is event ${eventIdHex}`;
  if (row.hex16('content_checksum') !== expected.checksumHex)
    return `the row of ${kind} ${eventIdHex} has a different checksum`;
  if (row.number('occurred_at') !== expected.occurredAtUs)
    return `the row of ${kind} ${eventIdHex} has a different time`;
  if (Buffer.compare(row.bytes('raw'), expected.raw) !== 0)
    return `the row of ${kind} holds different bytes than the record`;
  return null;
}
