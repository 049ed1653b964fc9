import type { StoreClient } from '../client/store-client.js';
import { WATERMARK_EPISODE_ID } from '../rows/event-rows.js';
import { IN_STREAM_PARTITION, type StreamPartition } from '../rows/stream-partition.js';

/** The last watermark limits the search: the index on offsets skips the rows before it. */
const LAST_OFFSET = `
  SELECT maxOrNull(log_offset) AS last_offset
  FROM events
  WHERE ${IN_STREAM_PARTITION} AND log_offset >= (
    SELECT max(log_offset) FROM events
    WHERE run_id = '' AND episode_id = '${WATERMARK_EPISODE_ID}' AND ${IN_STREAM_PARTITION}
  )`;

const partsOfRange = (table: string): string => `
  SELECT count() AS num_rows, uniqExact(_part) AS num_parts
  FROM ${table}
  WHERE ${IN_STREAM_PARTITION} AND log_offset BETWEEN {first:UInt64} AND {last:UInt64} AND episode_id != '${WATERMARK_EPISODE_ID}'`;

/** Reads the offset after the last one that the store holds; 0 when it holds none. */
export async function readNextOffset(
  client: Pick<StoreClient, 'queryRows' | 'layout'>,
  position: StreamPartition,
  signal?: AbortSignal,
): Promise<number> {
  const [row] = await client.queryRows<{ last_offset: number | null }>(LAST_OFFSET, {
    params: { ...position },
    settings: client.layout.positionSettings,
    signal,
  });
  return row.last_offset === null ? 0 : row.last_offset + 1;
}

/** Reads which other logs the store holds records of: another log means that the log was recreated. */
export async function readOtherLogIds(client: StoreClient, logId: string): Promise<string[]> {
  const rows = await client.queryRows<{ log_id: string }>(
    'SELECT DISTINCT log_id FROM events WHERE log_id != {logId:String}',
    { params: { logId } },
  );
  return rows.map((row) => row.log_id);
}

export interface RangeInParts {
  readonly numRows: number;
  readonly numParts: number;
}

/** Counts the rows and parts that hold the records from `first` to `last`; on a cluster, in this shard. */
export async function readPartsOfRange(
  client: StoreClient,
  position: StreamPartition,
  range: { readonly first: number; readonly last: number },
): Promise<RangeInParts> {
  const [row] = await client.queryRows<{ num_rows: number; num_parts: number }>(
    partsOfRange(client.layout.localEvents),
    { params: { ...position, ...range } },
  );
  return { numRows: row.num_rows, numParts: row.num_parts };
}
