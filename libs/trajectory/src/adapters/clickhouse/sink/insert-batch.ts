import { setImmediate } from 'node:timers/promises';
import type { ClickHouseSettings } from '@clickhouse/client';
import { EventRowsEncoder, type EncodedRows, type StreamPartition } from '../../arrow/index.js';
import type { StoreClient } from '../store-client.js';
import { isKept, type DecodedRecord } from './decoded-record.js';

/**
 * What makes one insert one part. The rows go as one Arrow record batch, which the engine takes as one block; these settings
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
};

/** How long the encoder may hold the thread, which others share. */
const MAX_SLICE_MS = 8;

export interface EncodedBatch extends EncodedRows {
  readonly numDeadLetters: number;
  readonly occurredAtMs: readonly number[];
}

/**
 * The records as rows, those of deleted runs left out. Lets other work in every few milliseconds.
 *
 * @param watermark offset up to which the store has every row that it should have, once this batch is there; null for none
 */
export async function encodeBatch(
  records: readonly DecodedRecord[],
  position: StreamPartition,
  { watermark }: { readonly watermark: number | null },
): Promise<EncodedBatch> {
  const kept = records.filter(isKept);
  const encoder = new EventRowsEncoder(position, kept.length + (watermark === null ? 0 : 1));
  const occurredAtMs: number[] = [];
  let sliceEndMs = performance.now() + MAX_SLICE_MS;
  for (const record of kept) {
    encoder.append(record.row);
    if (record.occurredAtMs !== null) occurredAtMs.push(record.occurredAtMs);
    if (performance.now() > sliceEndMs) {
      await setImmediate();
      sliceEndMs = performance.now() + MAX_SLICE_MS;
    }
  }
  if (watermark !== null) encoder.append({ offset: watermark, watermark: true });
  return { ...encoder.finish(), numDeadLetters: kept.length - occurredAtMs.length, occurredAtMs };
}

/** Resolves once the batch is one durable part; after a rejection that is unknown. */
export async function insertBatch(client: StoreClient, { columns, body }: EncodedRows): Promise<void> {
  const { localEvents: table, insertSettings } = client.layout;
  await client.insertArrow({ table, columns, body, settings: { ...ONE_PART, ...insertSettings } });
}
