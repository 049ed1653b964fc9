import type { EventLog } from '@retrace/log';
import type { StoreClient } from '../client/store-client.js';
import { readNextOffset } from './store-position.js';
import { type StreamPartition, listStreamPartitions } from '../rows/stream-partition.js';

/** Offsets [from, end) of one stream partition. */
export interface OffsetsOfPartition extends Pick<StreamPartition, 'stream' | 'partition'> {
  readonly from: number;
  readonly end: number;
}

/**
 * Whether the log has a record at any of these offsets. An append that was cut short can leave offsets without a record, which every
 * reader skips, so the log's end alone does not tell.
 */
export async function hasRecordIn(
  log: EventLog,
  { stream, partition, from, end }: OffsetsOfPartition,
): Promise<boolean> {
  if (from >= end) return false;
  const [first] = await log.read(stream, partition, from, { maxRecords: 1 });
  return first !== undefined && first.offset < end;
}

/** Whether the log ends before the store does, in any partition. */
export async function isBehindStore(log: EventLog, client: StoreClient): Promise<boolean> {
  for (const position of listStreamPartitions(log)) {
    const endOffset = await log.endOffset(position.stream, position.partition);
    if (endOffset < (await readNextOffset(client, position))) return true;
  }
  return false;
}

/** Whether the store has all trajectory records that the log holds at the time of the call. */
export async function isUpToDate(log: EventLog, client: StoreClient): Promise<boolean> {
  for (const position of listStreamPartitions(log)) {
    const { stream, partition } = position;
    if (stream !== 'trajectories') continue;
    const end = await log.endOffset(stream, partition);
    const from = await readNextOffset(client, position);
    if (await hasRecordIn(log, { stream, partition, from, end })) return false;
  }
  return true;
}
