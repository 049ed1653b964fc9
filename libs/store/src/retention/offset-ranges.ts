import type { OffsetRange } from '@retrace/log';
import type { StoreClient } from '../client/store-client.js';
import { IN_STREAM_PARTITION, type StreamPartition } from '../rows/stream-partition.js';

/** Reads the places in a stream partition of the records with rows that meet one of these conditions, as ranges, ascending. */
export function toOffsetRanges(
  client: StoreClient,
  position: StreamPartition,
  conditions: readonly string[],
  params: Readonly<Record<string, unknown>>,
): Promise<OffsetRange[]> {
  return client.queryRows<OffsetRange>(
    `SELECT min(log_offset) AS from, max(log_offset) + 1 AS end
     FROM (
       SELECT log_offset, log_offset - rowNumberInAllBlocks() AS island
       FROM (
         SELECT DISTINCT log_offset FROM events
         WHERE (${conditions.map((condition) => `(${condition})`).join(' OR ')}) AND ${IN_STREAM_PARTITION}
         ORDER BY log_offset
       )
     )
     GROUP BY island
     ORDER BY from`,
    { params: { ...position, ...params } },
  );
}
