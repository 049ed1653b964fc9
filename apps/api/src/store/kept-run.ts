/**
 * Condition on `run_id`: its run was not deleted, or was imported again since. From `RunDeleted` on a run is gone, though its rows are
 * removed later. Runs that have one are found first, by the index on kinds: they are few.
 *
 * @param ofRuns further condition on the runs that are looked at, or nothing
 */
export const isKeptRun = (ofRuns: string): string => `run_id NOT IN (
    SELECT run_id FROM events
    WHERE episode_id = '' AND kind IN ('RunStarted', 'RunDeleted')
      AND run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunDeleted' ${ofRuns})
    GROUP BY run_id, log_id
    HAVING argMax(kind, log_offset) = 'RunDeleted')`;
