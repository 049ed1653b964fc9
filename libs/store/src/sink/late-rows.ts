import type { DeletedRuns, EpisodeOfRun } from '@retrace/trajectory';
import { insertWatermark } from '../batch/insert-watermark.js';
import type { StoreClient } from '../client/store-client.js';
import { TRACED_INPUTS } from '../rows/traced-inputs.js';
import { episodesByRun } from '../rows/episodes-by-run.js';
import { hideRows } from '../schema/hide-rows.js';
import { IN_STREAM_PARTITION, type StreamPartition } from '../rows/stream-partition.js';
import { IS_DELETION, ROWS_OF_EPISODES_IN_EVENTS, ROWS_OF_RUN_IN_EVENTS } from '../rows/rows-of-run.js';

/** Offsets [first, end) of one stream partition in which a deleted run has rows. */
export interface LateRange {
  readonly runId: string;
  readonly first: number;
  readonly end: number;
}

/**
 * The ranges of a batch that belong to runs whose deletion was acknowledged while the batch was on its way: its rows may have come after
 * those of the run were deleted.
 */
export function findLateRanges(
  {
    firstOffsets,
    lastOffset,
  }: { readonly firstOffsets: ReadonlyMap<string, number>; readonly lastOffset: number },
  { stream, partition }: StreamPartition,
  deletedRuns: DeletedRuns,
): LateRange[] {
  return deletedRuns.endsOf(stream, partition).flatMap(({ runId, end }) => {
    const first = firstOffsets.get(runId);
    return first !== undefined && first < end ? [{ runId, first, end: Math.min(end, lastOffset + 1) }] : [];
  });
}

/** The ranges of a stream partition in which the store has rows of deleted runs. */
export async function findLateRows(
  client: StoreClient,
  { stream, partition, logId }: StreamPartition,
  deletedRuns: DeletedRuns,
): Promise<LateRange[]> {
  const ends = deletedRuns.endsOf(stream, partition);
  if (ends.length === 0) return [];
  const rows = await client.queryRows<{ run_id: string; first: number; last: number }>(
    `SELECT run_id, min(log_offset) AS first, max(log_offset) AS last FROM events
     WHERE run_id IN {runIds:Array(String)} AND NOT ${IS_DELETION} AND ${IN_STREAM_PARTITION}
     GROUP BY run_id`,
    { params: { runIds: ends.map(({ runId }) => runId), logId, stream, partition } },
  );
  return rows.flatMap(({ run_id: runId, first }) => {
    const end = ends.find((each) => each.runId === runId)?.end ?? 0;
    return first < end ? [{ runId, first, end }] : [];
  });
}

/**
 * Deletes rows that came after their run was deleted: of a sink that was behind, or that was stopped between its insert and its look at
 * the deletions. A watermark comes first, so the position stays at `nextOffset` whatever rows go.
 */
export async function deleteLateRows(
  client: StoreClient,
  position: StreamPartition,
  { nextOffset, ranges }: { readonly nextOffset: number; readonly ranges: readonly LateRange[] },
): Promise<void> {
  if (ranges.length === 0) return;
  await insertWatermark(client, position, nextOffset);
  for (const { runId, first, end } of ranges) {
    for (const condition of ROWS_OF_RUN_IN_EVENTS) {
      await hideRows(client, {
        table: 'events',
        where: `${condition} AND ${IN_STREAM_PARTITION} AND log_offset >= {first:UInt64} AND log_offset < {end:UInt64}`,
        params: { ...position, runId, first, end },
      });
    }
    if (position.stream === 'control') await deleteUnnamedInputs(client, runId);
  }
}

/** Deletes the inputs of a run's updates whose `UpdateTraced` was deleted. */
async function deleteUnnamedInputs(client: StoreClient, runId: string): Promise<void> {
  await hideRows(client, {
    table: TRACED_INPUTS,
    where: `run_id = {runId:String} AND plan_id NOT IN (
      SELECT plan_id FROM events WHERE run_id = {runId:String} AND episode_id = '' AND kind = 'UpdateTraced')`,
    params: { runId },
  });
}

/**
 * Deletes the rows of deleted episodes that came to a stream partition after their episode was deleted. A watermark comes first, as in
 * `deleteLateRows`.
 */
export async function deleteLateEpisodes(
  client: StoreClient,
  position: StreamPartition,
  { nextOffset, episodes }: { readonly nextOffset: number; readonly episodes: readonly EpisodeOfRun[] },
): Promise<void> {
  if (episodes.length === 0 || nextOffset === 0 || position.stream !== 'trajectories') return;
  let hasWatermark = false;
  for (const { runId, episodeIds } of episodesByRun(episodes)) {
    for (const condition of ROWS_OF_EPISODES_IN_EVENTS) {
      const params = { ...position, runId, episodeIds };
      const where = `${condition} AND ${IN_STREAM_PARTITION}`;
      const [{ n }] = await client.queryRows<{ n: number }>(
        `SELECT count() AS n FROM events WHERE ${where}`,
        { params },
      );
      if (n === 0) continue;
      if (!hasWatermark) await insertWatermark(client, position, nextOffset);
      hasWatermark = true;
      await hideRows(client, { table: 'events', where, params });
    }
  }
}
