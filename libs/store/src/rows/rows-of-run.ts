import { DEAD_LETTER_KIND } from './event-rows.js';

/** Conditions on a run's rows in `events`: all except its deletions, and the dead letters whose envelope names it. */
export const EVENTS_OF_RUN = "run_id = {runId:String} AND kind != 'RunDeleted'";
export const DEAD_LETTERS_OF_RUN = `run_id = '' AND episode_id = '' AND kind = '${DEAD_LETTER_KIND}'
  AND JSONExtractString(payload, 'runId') = {runId:String}`;

export const ROWS_OF_RUN_IN_EVENTS = [EVENTS_OF_RUN, DEAD_LETTERS_OF_RUN] as const;
