import type { ClickHouseSettings } from '@clickhouse/client';
import type { StoreClient } from '../client/store-client.js';
import type { EncodedRows } from '../rows/event-rows.js';

/**
 * Settings that make one insert one part. The rows go as one Arrow record batch, which the engine takes as one block; these settings
 * keep any version of it from cutting or spreading that block. A kill between two parts would leave a batch torn.
 */
const ONE_PART: ClickHouseSettings = {
  max_insert_threads: '1',
  max_insert_block_size: '1000000000',
  min_insert_block_size_rows: '1000000000',
  min_insert_block_size_bytes: '1000000000000',
  // Rows under one key stay apart until they are read: the first in log order counts, not the last inserted.
  optimize_on_insert: 0,
  // Deduplication by token or block loses rows when a kill comes between its mark and the part.
  insert_deduplicate: 0,
  async_insert: 0,
  // No column has a DEFAULT of its own; looking for one in each of them is 3.5 of the 12 ms that an insert of no rows costs.
  input_format_defaults_for_omitted_fields: 0,
};

/** Resolves once the batch is one durable part; after a rejection that is unknown. */
export async function insertBatch(client: StoreClient, { columns, body }: EncodedRows): Promise<void> {
  const { localEvents: table, insertSettings } = client.layout;
  await client.insertArrow({ table, columns, body, settings: { ...ONE_PART, ...insertSettings } });
}
