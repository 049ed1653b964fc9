import type { LogRecord } from '@retrace/log';
import { contentChecksum, DeletedRuns, type Stream } from '@retrace/trajectory';
import { decodeEvent, encodeEvent } from '@retrace/trajectory/codec';
import { readStoredDeletions } from '../admission/deletion-watch.js';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import { IN_STREAM_PARTITION, type StreamPartition } from '../rows/stream-partition.js';
import { EventRowReader } from '../rows/event-row-reader.js';
import { placeholderFor } from '../retention/deleted-placeholder.js';
import { DEAD_LETTER_KIND, readEventRow, WATERMARK_KIND } from '../rows/event-rows.js';

export interface LogFromStore {
  readonly client: StoreClient;
  readonly logId: string;
  /** Called for each row that does not match its checksum, and so is not in the log. */
  readonly onDamagedRow: (where: string) => void;
  readonly signal?: AbortSignal;
}

/** Records of one stream partition, ascending by offset. */
export interface RecordsOfPartition {
  readonly stream: Stream;
  readonly partition: number;
  readonly records: readonly LogRecord[];
}

const OFFSETS_PER_SLICE = 2_000;

const PARTITIONS = `
  SELECT log_stream AS stream, log_partition AS partition, max(log_offset) AS lastOffset
  FROM events WHERE log_id = {logId:String}
  GROUP BY log_stream, log_partition ORDER BY log_stream, log_partition`;

/** Of two rows at one offset, the dead letter, which has the bytes as they were in the log, comes last. */
const SLICE = `
  SELECT * FROM events
  WHERE ${IN_STREAM_PARTITION} AND kind != '${WATERMARK_KIND}'
    AND log_offset >= {first:UInt64} AND log_offset < {end:UInt64}
  ORDER BY log_offset, kind = '${DEAD_LETTER_KIND}'`;

/**
 * Makes the records of a log again from its rows, with their offsets. Every record has a row, except those that were deleted and those that the sink
 * had not written yet.
 *
 * An event is encoded again: its content checksum is the one in the row. Its bytes may differ in the order of fields, and in latencies, which the
 * store has as float32. A dead letter has its bytes. Where a partition began or ended with a record that was deleted, a placeholder of a deleted run
 * or episode takes its place, so that offsets stay.
 *
 * @throws StoreError `LOG_NOT_IN_STORE` when the store lacks the record that identifies the log
 */
export async function* readLogFromStore(job: LogFromStore): AsyncGenerator<RecordsOfPartition> {
  const { client, logId, signal } = job;
  const partitions = await client.queryRows<{ stream: Stream; partition: number; lastOffset: number }>(
    PARTITIONS,
    { params: { logId } },
  );
  const deletedRuns = new DeletedRuns();
  for (const event of await readStoredDeletions(client, logId)) deletedRuns.add(event);
  // The first control record gives a log its identity.
  if (!(await hasLogOpened(client, logId))) {
    const message = `the store has no LogOpened of log ${logId}, without which the log can't be written again`;
    throw new StoreError('LOG_NOT_IN_STORE', message);
  }
  for (const { stream, partition, lastOffset } of partitions) {
    const position = { logId, stream, partition };
    const fillEdge = toEdge(position, deletedRuns);
    for (let first = 0; first <= lastOffset; first += OFFSETS_PER_SLICE) {
      signal?.throwIfAborted();
      const end = Math.min(first + OFFSETS_PER_SLICE, lastOffset + 1);
      const records = await readSlice(job, position, { first, end });
      if (first === 0 && records.at(0)?.offset !== 0) records.unshift(fillEdge(0));
      if (end > lastOffset && records.at(-1)?.offset !== lastOffset) records.push(fillEdge(lastOffset));
      if (records.length > 0) yield { stream, partition, records };
    }
  }
}

async function hasLogOpened(client: StoreClient, logId: string): Promise<boolean> {
  const [{ n }] = await client.queryRows<{ n: number }>(
    `SELECT count() AS n FROM events
     WHERE ${IN_STREAM_PARTITION} AND log_offset = 0 AND kind = 'LogOpened'`,
    { params: { logId, stream: 'control', partition: 0 } },
  );
  return n > 0;
}

async function readSlice(
  { client, onDamagedRow }: LogFromStore,
  position: StreamPartition,
  { first, end }: { readonly first: number; readonly end: number },
): Promise<LogRecord[]> {
  const params = { ...position, first, end };
  const rows = new EventRowReader(ArrowColumns.read(await client.queryArrow(SLICE, { params })));
  const byOffset = new Map<number, LogRecord>();
  for (rows.row = 0; rows.row < rows.numRows; rows.row++) {
    const offset = rows.number('log_offset');
    const bytes = rows.text('kind') === DEAD_LETTER_KIND ? rows.bytes('raw') : findRecord(rows);
    if (bytes !== null) byOffset.set(offset, { offset, bytes });
    else onDamagedRow(`${position.stream}/${position.partition} offset ${offset}`);
  }
  return [...byOffset.values()];
}

/** Encodes the event of the current row; null where the row does not match its checksum. */
function findRecord(rows: EventRowReader): Uint8Array | null {
  const checksum = rows.hex16('content_checksum');
  try {
    const bytes = encodeEvent(readEventRow(rows));
    const decoded = decodeEvent(bytes);
    return decoded.ok && contentChecksum(decoded.event) === checksum ? bytes : null;
  } catch {
    // A damaged row need not be a valid event, nor its JSON be JSON.
    return null;
  }
}

/** Returns what makes a record for an offset at an end of a partition, where the store has no row. */
function toEdge(
  { logId, stream, partition }: StreamPartition,
  deletedRuns: DeletedRuns,
): (offset: number) => LogRecord {
  return (offset) => {
    const run = deletedRuns.endsOf(stream, partition).find(({ end }) => offset < end);
    const episode = stream === 'control' ? undefined : deletedRuns.allEpisodes.at(0);
    const deleted = run === undefined ? episode : { ...run, episodeId: '' };
    // Without one the row was lost. The bytes then are a dead letter, which says so.
    const bytes =
      deleted === undefined
        ? Buffer.from('The record at this offset was lost when the log was written again from the store')
        : placeholderFor({ logId, ...deleted });
    return { offset, bytes };
  };
}
