import type { DeletedRuns } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import { IN_STREAM_PARTITION, type StreamPartition } from '../position/stream-partition.js';
import { ROWS_OF_RUN_IN_EVENTS } from './rows-of-run.js';

/** Offsets of one stream partition. */
export interface LateRange {
  readonly runId: string;
  readonly first: number;
  /** Up to the row before it. */
  readonly end: number;
}

/**
 * Takes rows out that came after their run was deleted: of a sink that lagged behind, or that was stopped between its insert and its
 * look at the deletions. The position must be marked by a watermark before.
 */
export async function deleteLateRows(
  client: StoreClient,
  position: StreamPartition,
  { runId, first, end }: LateRange,
): Promise<void> {
  const { localEvents, onCluster } = client.layout;
  const inRange = `${IN_STREAM_PARTITION}
    AND log_offset >= {first:UInt64} AND log_offset < {end:UInt64}`;
  const params = { ...position, runId, first, end };
  for (const condition of ROWS_OF_RUN_IN_EVENTS) {
    await client.command(`DELETE FROM ${localEvents}${onCluster} WHERE ${condition} AND ${inRange}`, {
      params,
      settings: { lightweight_deletes_sync: '2' },
    });
  }
}

/** What of deleted runs lies in a stream partition of the store all the same. */
export async function findLateRows(
  client: StoreClient,
  { stream, partition, logId }: StreamPartition,
  deleted: DeletedRuns,
): Promise<LateRange[]> {
  const ends = deleted.endsOf(stream, partition);
  if (ends.length === 0) return [];
  const rows = await client.queryRows<{ run_id: string; first: number; last: number }>(
    `SELECT run_id, min(log_offset) AS first, max(log_offset) AS last FROM events
     WHERE run_id IN {runIds:Array(String)} AND kind != 'RunDeleted'
       AND ${IN_STREAM_PARTITION}
     GROUP BY run_id`,
    { params: { runIds: ends.map(({ runId }) => runId), logId, stream, partition } },
  );
  return rows.flatMap(({ run_id: runId, first }) => {
    const end = ends.find((each) => each.runId === runId)?.end ?? 0;
    return first < end ? [{ runId, first, end }] : [];
  });
}
