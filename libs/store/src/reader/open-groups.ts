import type { Split } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import { amongEpisodes } from './among-episodes.js';

/** A group whose members have all ended and that no event has closed. */
export interface GroupProgressRow {
  readonly groupId: string;
  readonly split: Split;
  /** Members that were announced. */
  readonly groupSize: number;
  /** In the order of their places. */
  readonly episodeIds: readonly string[];
  readonly numSteps: readonly number[];
  /** Over members in which a policy of the run sampled; −1 when there are none. */
  readonly policyVersionMin: number;
  readonly policyVersionMax: number;
  /** Steps that no update may train on. */
  readonly numUntrainable: number;
}

/**
 * Reads groups that could be closed: as many members as announced, all of them ended, none abandoned, each with sampled tokens.
 *
 * @param page ordered by group id, after `after`
 */
export async function readOpenGroups(
  client: StoreClient,
  page: { readonly runId: string; readonly after: string; readonly limit: number },
): Promise<GroupProgressRow[]> {
  const groups = await client.queryRows<Omit<GroupProgressRow, 'numUntrainable'>>(
    `SELECT group_id AS groupId, any(e.split) AS split, max(e.group_size) AS groupSize,
       arraySort(groupArray(tuple(e.group_member, e.episode_id, e.num_steps))) AS members,
       arrayMap(member -> member.2, members) AS episodeIds,
       arrayMap(member -> assumeNotNull(member.3), members) AS numSteps,
       if(countIf(e.policy_version_min >= 0) = 0, -1, minIf(e.policy_version_min, e.policy_version_min >= 0)) AS policyVersionMin,
       max(e.policy_version_max) AS policyVersionMax
     FROM episodes AS e
     WHERE e.run_id = {runId:String} AND e.group_id > {after:String}
       AND e.group_id NOT IN (SELECT group_id FROM groups WHERE run_id = {runId:String})
     GROUP BY group_id
     HAVING count() >= max(e.group_size) AND min(e.sealed) AND countIf(e.end_reason = 'abandoned') = 0
       AND min(e.num_action_tokens) > 0
     ORDER BY group_id
     LIMIT {limit:UInt32}`,
    { params: page },
  );
  const untrainable = await readUntrainable(
    client,
    page.runId,
    groups.flatMap(({ episodeIds }) => episodeIds),
  );
  return groups.map((group) => ({
    ...group,
    numUntrainable: group.episodeIds.reduce((sum, id) => sum + (untrainable.get(id) ?? 0), 0),
  }));
}

/** Episode ids in one query: about 40 kB of its text. */
const IDS_PER_QUERY = 1_000;

/** Counts the steps of each episode that no update may train on; episodes without such steps are left out. */
async function readUntrainable(
  client: StoreClient,
  runId: string,
  episodeIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (let from = 0; from < episodeIds.length; from += IDS_PER_QUERY) {
    const rows = await client.queryRows<{ episodeId: string; numSteps: number }>(
      `SELECT episode_id AS episodeId, count() AS numSteps
       FROM steps
       WHERE run_id = {runId:String} AND ${amongEpisodes(episodeIds.slice(from, from + IDS_PER_QUERY))} AND untrainable != ''
       GROUP BY episode_id`,
      { params: { runId } },
    );
    for (const { episodeId, numSteps } of rows) counts.set(episodeId, numSteps);
  }
  return counts;
}
