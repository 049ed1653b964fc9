import { DEFAULT_MAX_EVENT_BYTES, type LogRecord } from '@retrace/log';
import { judgeRecord } from '../admission/admit-record.js';
import { AdmissionInPast } from '../admission/past-admission.js';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import { insertBatch } from '../batch/insert-batch.js';
import type { StoreClient } from '../client/store-client.js';
import { IN_STREAM_PARTITION } from '../position/stream-partition.js';
import { EventRowReader } from '../rows/event-row-reader.js';
import { DEAD_LETTER_KIND, type EventRow, EventRowsEncoder } from '../rows/event-rows.js';
import type { StoreLayout } from '../schema/store-layout.js';
import { type DeadLetterEntry, type DeadLetterFilter, listDeadLetters } from './dead-letters.js';

export interface RetryDeadLetters extends DeadLetterFilter {
  readonly client: StoreClient;
  /** Largest episode event that counts: `maxEventBytes` of the log (default: that of a log by default). */
  readonly maxEventBytes?: number;
  /** Looks, and changes nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

export interface RetryReport {
  /** Dead letters that the filter chose. */
  readonly numDeadLetters: number;
  /** Those that are events which count, to this code: rows now, or with `dryRun` rows that they would become. */
  readonly numDecoded: number;
  /** The others by what is wrong with them today. */
  readonly remaining: Readonly<Record<string, number>>;
}

const PAGE_ENTRIES = 1_000;
/** Bytes of records that a slice holds at most, where it is more than one record. */
const SLICE_BYTES = 16 * 1024 * 1024;

const RAW = `
  SELECT log_offset, raw FROM dead_letters
  WHERE ${IN_STREAM_PARTITION}
    AND log_offset IN {offsets:Array(UInt64)}
  ORDER BY log_offset`;

const remove = ({ localEvents, onCluster }: StoreLayout): string => `
  DELETE FROM ${localEvents}${onCluster}
  WHERE run_id = '' AND episode_id = '' AND kind = '${DEAD_LETTER_KIND}'
    AND ${IN_STREAM_PARTITION}
    AND log_offset IN {offsets:Array(UInt64)}`;

/**
 * Judges dead letters anew and makes those that are events which count ordinary rows, at the places that their records have in the log.
 *
 * The row first, the removal of the dead letter after it: so the offset is accounted for at every moment, and the position
 * that a sink reads (the highest offset) can't move back. A retry that was cut short between the two is made again whole: the
 * row it inserts once more has the key of the one that is there, which reads take once. Bytes come from the store, so
 * it does not matter whether the log still has them. See docs/store.md.
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
  let after: DeadLetterEntry | undefined;
  for (;;) {
    const page = await listDeadLetters(client, { ...filter, ...(after && { after }), limit: PAGE_ENTRIES });
    // Events of a run that has not started are rows as they are, and count as soon as it has.
    for (const { code } of page.filter(({ sizeBytes }) => sizeBytes === 0))
      remaining[code] = (remaining[code] ?? 0) + 1;
    for (const slice of slicesOf(page.filter(({ sizeBytes }) => sizeBytes > 0))) {
      signal?.throwIfAborted();
      const { codes, decoded } = await retrySlice({ client, maxEventBytes, dryRun }, slice);
      numDecoded += decoded;
      for (const code of codes) remaining[code] = (remaining[code] ?? 0) + 1;
    }
    numDeadLetters += page.length;
    after = page.at(-1);
    if (page.length < PAGE_ENTRIES) return { numDeadLetters, numDecoded, remaining };
  }
}

/** Neighbours of one stream partition, of bounded size. */
function* slicesOf(page: readonly DeadLetterEntry[]): Generator<DeadLetterEntry[]> {
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

async function retrySlice(
  { client, maxEventBytes, dryRun }: Required<Pick<RetryDeadLetters, 'client' | 'maxEventBytes' | 'dryRun'>>,
  slice: readonly DeadLetterEntry[],
): Promise<{ readonly decoded: number; readonly codes: readonly string[] }> {
  const [{ logId, stream, partition }] = slice;
  const position = { logId, stream, partition };
  const params = { ...position, offsets: slice.map(({ offset }) => offset) };
  const rows = new EventRowReader(ArrowColumns.read(await client.queryArrow(RAW, { params })));
  const events: EventRow[] = [];
  const codes = [];
  const records: LogRecord[] = [];
  for (rows.row = 0; rows.row < rows.numRows; rows.row++)
    records.push({ offset: rows.number('log_offset'), bytes: rows.bytes('raw') });
  const admission = new AdmissionInPast({ client, position, maxEventBytes });
  await admission.learn(records);
  for (const record of records) {
    admission.goTo(record.offset);
    const judgement = judgeRecord(record, admission);
    if (judgement?.ok) events.push(judgement.row);
    else if (judgement !== null) codes.push(judgement.code);
  }
  if (events.length > 0 && !dryRun) {
    const encoder = new EventRowsEncoder(position);
    for (const event of events) encoder.append(event);
    await insertBatch(client, encoder.finish());
    await client.command(remove(client.layout), {
      params: { ...position, offsets: events.map(({ offset }) => offset) },
      settings: { lightweight_deletes_sync: '2' },
    });
  }
  return { decoded: events.length, codes };
}
