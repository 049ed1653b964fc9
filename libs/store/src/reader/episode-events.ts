import type { AnyEvent } from '@retrace/trajectory';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import type { StoreClient } from '../client/store-client.js';
import { EventRowReader } from '../rows/event-row-reader.js';
import { readEventRow } from '../rows/event-rows.js';

/** Reads the start, the steps and the end of an episode, in order; of two records at one place the first counts. Empty for an unknown episode. */
export async function readEpisodeEvents(
  client: StoreClient,
  { runId, episodeId }: { readonly runId: string; readonly episodeId: string },
): Promise<AnyEvent[]> {
  const table = await client.queryArrow(
    `SELECT *
     FROM events
     WHERE run_id = {runId:String} AND episode_id = {episodeId:String}
       AND kind IN ('EpisodeStarted', 'StepRecorded', 'EpisodeEnded')
     ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
     LIMIT 1 BY run_id, episode_id, seq`,
    { params: { runId, episodeId } },
  );
  const rows = new EventRowReader(ArrowColumns.read(table));
  return Array.from({ length: rows.numRows }, (_, row) => {
    rows.row = row;
    return readEventRow(rows);
  });
}
