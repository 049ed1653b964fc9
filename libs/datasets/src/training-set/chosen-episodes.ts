import type { StoreClient } from '@retrace/store';
import { DatasetError } from '../dataset-error.js';
import { among, type EpisodeKey } from '../read-episodes.js';

/** Facts that decide whether an episode can be in a list to train on. */
export interface ChosenEpisode extends EpisodeKey {
  readonly groupId: string;
  /** Members that the group has. */
  readonly groupSize: number;
  readonly split: string;
  readonly sealed: boolean;
  /** Null while it goes on. */
  readonly endReason: string | null;
}

const EPISODES_PER_QUERY = 5_000;

/**
 * Reads what is known of chosen episodes.
 *
 * @throws DatasetError `NOT_TRAINABLE` for an episode that the store lacks; StoreError
 */
export async function readChosenEpisodes(
  client: StoreClient,
  keys: readonly EpisodeKey[],
): Promise<ChosenEpisode[]> {
  const found: ChosenEpisode[] = [];
  for (let from = 0; from < keys.length; from += EPISODES_PER_QUERY) {
    const slice = keys.slice(from, from + EPISODES_PER_QUERY);
    const rows = await client.queryRows<ChosenEpisode>(
      `SELECT run_id AS runId, episode_id AS episodeId, group_id AS groupId, group_size AS groupSize, split, sealed,
         end_reason AS endReason
       FROM episodes WHERE ${among(slice)}`,
    );
    const byId = new Map(rows.map((row) => [`${row.runId} ${row.episodeId}`, row]));
    for (const { runId, episodeId } of slice) {
      const row = byId.get(`${runId} ${episodeId}`);
      if (row === undefined)
        throw new DatasetError(
          'NOT_TRAINABLE',
          `episode ${episodeId} of run ${runId} is not in the store; a query must choose stored episodes`,
        );
      found.push(row);
    }
  }
  return found;
}

/** Counts the members of each of these groups that are stored and ended, by `run group`. */
export async function countEndedMembers(
  client: StoreClient,
  episodes: readonly ChosenEpisode[],
): Promise<ReadonlyMap<string, number>> {
  const groupsByRun = new Map<string, Set<string>>();
  for (const { runId, groupId } of episodes) {
    const groups = groupsByRun.get(runId) ?? new Set();
    groupsByRun.set(runId, groups.add(groupId));
  }
  const counts = new Map<string, number>();
  for (const [runId, groups] of groupsByRun) {
    const rows = await client.queryRows<{ readonly groupId: string; readonly numEnded: number }>(
      `SELECT group_id AS groupId, toUInt32(countIf(sealed AND end_reason != 'abandoned')) AS numEnded
       FROM episodes WHERE run_id = {runId:String} GROUP BY group_id`,
      { params: { runId } },
    );
    for (const { groupId, numEnded } of rows)
      if (groups.has(groupId)) counts.set(`${runId} ${groupId}`, numEnded);
  }
  return counts;
}
