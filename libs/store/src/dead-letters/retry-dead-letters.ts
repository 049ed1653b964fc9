import { DEFAULT_MAX_EVENT_BYTES, type LogRecord } from '@retrace/log';
import { decideRecord } from '../admission/admit-record.js';
import { PastAdmission } from '../admission/past-admission.js';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import { insertBatch } from '../batch/insert-batch.js';
import type { StoreClient } from '../client/store-client.js';
import { IN_STREAM_PARTITION, type StreamPartition } from '../rows/stream-partition.js';
import { hideRows } from '../schema/hide-rows.js';
import { EventRowReader } from '../rows/event-row-reader.js';
import { DEAD_LETTER_KIND, EventRowsEncoder } from '../rows/event-rows.js';
import { type DeadLetterEntry, type DeadLetterFilter, listDeadLetters } from './dead-letters.js';

export interface RetryDeadLetters extends DeadLetterFilter {
  readonly client: StoreClient;
  /** Longest episode event that is accepted: `maxEventBytes` of the log (default: the default of a log). */
  readonly maxEventBytes?: number;
  /** Reports what would change, and changes nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

export interface RetryReport {
  /** Dead letters that the filter matches. */
  readonly numDeadLetters: number;
  /** Those that this code accepts as events: ordinary rows now, or with `dryRun` rows that they would become. */
  readonly numDecoded: number;
  /** How many of the others there are, by the code of their fault today. */
  readonly remaining: Readonly<Record<string, number>>;
}

const PAGE_ENTRIES = 1_000;
/** Most bytes of records in a slice of more than one record. */
const SLICE_BYTES = 16 * 1024 * 1024;

const RAW = `
  SELECT log_offset, raw FROM dead_letters
  WHERE ${IN_STREAM_PARTITION}
    AND log_offset IN {offsets:Array(UInt64)}
  ORDER BY log_offset`;

const DECIDED = `
  run_id = '' AND episode_id = '' AND kind = '${DEAD_LETTER_KIND}'
  AND ${IN_STREAM_PARTITION}
  AND log_offset IN {offsets:Array(UInt64)}`;

/**
 * Decides about dead letters again, and makes ordinary rows of those that are accepted, at the offsets of their records.
 *
 * The row is inserted first and the dead letter deleted after it, so the offset is accounted for at every moment and the position
 * that a sink reads (the highest offset) can't move back. A retry that was cut short between the two is completed by another one: the
 * row that it inserts once more has the key of the one that is there, which reads return once. Bytes come from the store, so the log
 * need not have them any more. See docs/decisions/0008-rebuild-delete-retry.md.
 *
 * @throws StoreError; the reason of `signal` when it aborts
 */
export async function retryDeadLetters({
  client,
  maxEventBytes = DEFAULT_MAX_EVENT_BYTES,
  dryRun = false,
  signal,
  ...filter
}: RetryDeadLetters): Promise<RetryReport> {
  let numDeadLetters = 0;
  let numDecoded = 0;
  const remaining: Record<string, number> = {};
  const countRemaining = (code: string): void => void (remaining[code] = (remaining[code] ?? 0) + 1);
  let after: DeadLetterEntry | undefined;
  for (;;) {
    const page = await listDeadLetters(client, { ...filter, ...(after && { after }), limit: PAGE_ENTRIES });
    for (const { code, sizeBytes } of page) {
      // Events of a run that has not started are ordinary rows already, and count as soon as it has.
      if (sizeBytes === 0) countRemaining(code);
    }
    for (const slice of splitSlices(page.filter(({ sizeBytes }) => sizeBytes > 0))) {
      signal?.throwIfAborted();
      const { offsets, rows, refusedCodes } = await decideSlice(client, slice, maxEventBytes);
      numDecoded += offsets.length;
      refusedCodes.forEach(countRemaining);
      if (!dryRun) await replaceDeadLetters(client, makePartition(slice), { offsets, rows });
    }
    numDeadLetters += page.length;
    after = page.at(-1);
    if (page.length < PAGE_ENTRIES) return { numDeadLetters, numDecoded, remaining };
  }
}

/** Splits a page into slices of one stream partition each, of bounded size. */
function* splitSlices(page: readonly DeadLetterEntry[]): Generator<DeadLetterEntry[]> {
  let slice: DeadLetterEntry[] = [];
  let sizeBytes = 0;
  for (const entry of page) {
    const [first] = slice;
    if (slice.length > 0 && (!isSamePartition(first, entry) || sizeBytes + entry.sizeBytes > SLICE_BYTES)) {
      yield slice;
      slice = [];
      sizeBytes = 0;
    }
    slice.push(entry);
    sizeBytes += entry.sizeBytes;
  }
  if (slice.length > 0) yield slice;
}

function isSamePartition(a: DeadLetterEntry, b: DeadLetterEntry): boolean {
  return a.logId === b.logId && a.stream === b.stream && a.partition === b.partition;
}

function makePartition([{ logId, stream, partition }]: readonly DeadLetterEntry[]): StreamPartition {
  return { logId, stream, partition };
}

interface DecidedSlice {
  /** Of the records that are accepted. */
  readonly offsets: readonly number[];
  readonly rows: EventRowsEncoder;
  readonly refusedCodes: readonly string[];
}

/** Decides about the records of a slice again, each beside the rows that were before it in the log. */
async function decideSlice(
  client: StoreClient,
  slice: readonly DeadLetterEntry[],
  maxEventBytes: number,
): Promise<DecidedSlice> {
  const position = makePartition(slice);
  const records = await readRecords(client, position, slice);
  const admission = new PastAdmission({ client, position, maxEventBytes });
  const rows = new EventRowsEncoder(position, admission);
  const offsets: number[] = [];
  const refusedCodes: string[] = [];
  for (const [i, { offset }] of records.entries()) {
    admission.goTo(offset);
    const result = await decideRecord(records, i, admission);
    if (result.kind === 'deadLetter') refusedCodes.push(result.code);
    if (result.kind !== 'accepted') continue;
    rows.append({ offset, event: result.event, checksum: result.checksum });
    offsets.push(offset);
  }
  return { offsets, rows, refusedCodes };
}

async function readRecords(
  client: StoreClient,
  position: StreamPartition,
  slice: readonly DeadLetterEntry[],
): Promise<LogRecord[]> {
  const params = { ...position, offsets: slice.map(({ offset }) => offset) };
  const rows = new EventRowReader(ArrowColumns.read(await client.queryArrow(RAW, { params })));
  const records: LogRecord[] = [];
  for (rows.row = 0; rows.row < rows.numRows; rows.row++)
    records.push({ offset: rows.number('log_offset'), bytes: rows.bytes('raw') });
  return records;
}

async function replaceDeadLetters(
  client: StoreClient,
  position: StreamPartition,
  { offsets, rows }: Pick<DecidedSlice, 'offsets' | 'rows'>,
): Promise<void> {
  if (offsets.length === 0) return;
  await insertBatch(client, rows.finish());
  await hideRows(client, { table: 'events', where: DECIDED, params: { ...position, offsets } });
}
