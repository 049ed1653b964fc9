import type { EventLog } from '@retrace/log';
import { insertWatermark } from '../batch/insert-watermark.js';
import type { StoreClient } from '../client/store-client.js';
import { readNextOffset } from '../position/store-position.js';
import { listStreamPartitions } from '../rows/stream-partition.js';

/** Inserts a watermark in every partition, so that positions stay whatever rows are deleted. */
export async function markPositions(log: EventLog, client: StoreClient): Promise<void> {
  for (const position of listStreamPartitions(log)) {
    const nextOffset = await readNextOffset(client, position);
    if (nextOffset === 0) continue;
    await insertWatermark(client, position, nextOffset);
  }
}
