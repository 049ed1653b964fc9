import { DEAD_LETTER_KIND } from './event-rows.js';

/** Kinds that stay when their run is deleted. */
export const IS_DELETION = "kind IN ('RunDeleted', 'EpisodesDeleted')";

/** Conditions on a run's rows in `events`: all except deletions, and the dead letters whose envelope names it. */
export const EVENTS_OF_RUN = `run_id = {runId:String} AND NOT ${IS_DELETION}`;
export const DEAD_LETTERS_OF_RUN = `run_id = '' AND episode_id = '' AND kind = '${DEAD_LETTER_KIND}'
  AND JSONExtractString(payload, 'runId') = {runId:String}`;

export const ROWS_OF_RUN_IN_EVENTS = [EVENTS_OF_RUN, DEAD_LETTERS_OF_RUN] as const;

/** Conditions on the rows of episodes of a run in `events`: theirs, and the dead letters whose envelope names them. */
export const ROWS_OF_EPISODES_IN_EVENTS = [
  'run_id = {runId:String} AND episode_id IN {episodeIds:Array(String)}',
  `run_id = '' AND episode_id = '' AND kind = '${DEAD_LETTER_KIND}'
  AND JSONExtractString(payload, 'runId') = {runId:String}
  AND JSONExtractString(payload, 'episodeId') IN {episodeIds:Array(String)}`,
] as const;
