import type { StoreClient } from '../client/store-client.js';
import type { StreamPartition } from '../rows/stream-partition.js';
import { EventRowsEncoder } from '../rows/event-rows.js';
import { insertBatch } from './insert-batch.js';

/**
 * Inserts a row which says that the store has every row it should have before `nextOffset` (above 0). Deleting other rows then never
 * moves the position of the store back.
 */
export async function insertWatermark(
  client: StoreClient,
  position: StreamPartition,
  nextOffset: number,
): Promise<void> {
  const encoder = new EventRowsEncoder(position);
  encoder.append({ offset: nextOffset - 1, watermark: true });
  await insertBatch(client, encoder.finish());
}
