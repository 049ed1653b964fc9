import type { EpisodesQuery } from './episodes.dto.js';

const CONDITION_OF = {
  split: 'split = {split:String}',
  agent: 'agent = {agent:String}',
  sealed: 'sealed = {sealed:Bool}',
  success: 'success = {success:Bool}',
} as const;

/** Conditions on columns of the view `episodes`, for the filters that are set. */
export function filterConditions(query: EpisodesQuery): string[] {
  return Object.entries(CONDITION_OF)
    .filter(([name]) => query[name as keyof typeof CONDITION_OF] !== undefined)
    .map(([, condition]) => condition);
}

/** Selects the members of a group. */
export const GROUP_CONDITION = `episode_id IN (
  SELECT episode_id
  FROM events
  WHERE run_id = {runId:String} AND episode_id != '' AND kind = 'EpisodeStarted' AND group_id = {groupId:String})`;

/** Selects the batch of an update. */
export const BATCH_CONDITION = `episode_id IN (
  SELECT arrayJoin(JSONExtract(payload, 'episodeIds', 'Array(String)'))
  FROM current_trainer_events
  WHERE run_id = {runId:String} AND kind = 'BatchPlanned' AND update_number = {update:UInt64})`;

/** Values of the placeholders in the conditions above. */
export function filterParams({
  split,
  agent,
  sealed,
  success,
  groupId,
  update,
}: EpisodesQuery): Record<string, unknown> {
  const params = { split, agent, sealed, success, groupId, update };
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}
