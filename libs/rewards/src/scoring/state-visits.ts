import { amongEpisodes, type StoreClient } from '@retrace/store';

/** Visits of a state, by its anchor. */
export type VisitCount = (anchor: string) => number;

export interface StateVisitsOptions {
  readonly client: StoreClient;
  readonly runId: string;
  /** Resolves when the store shows everything that was in the log at the call; absent where nobody else writes. */
  readonly untilStored?: () => Promise<void>;
}

/**
 * How often states were visited before an episode began: by the steps of the run's training episodes that had ended by then. A
 * function of the records, so that scoring an episode again, in any order, gives the same count.
 */
export class StateVisits {
  constructor(private readonly options: StateVisitsOptions) {}

  /**
   * Visit counts for each of these episodes; unvisited states count 0.
   *
   * @throws TrajectoryError `INVALID_ID` for an id that is no UUID
   */
  async read(episodeIds: readonly string[]): Promise<ReadonlyMap<string, VisitCount>> {
    const { client, runId, untilStored } = this.options;
    await untilStored?.();
    const rows = await client.queryRows<{ episodeId: string; anchor: string; visits: number }>(
      selectVisits(episodeIds),
      { params: { runId } },
    );
    const visits = new Map<string, Map<string, number>>(
      episodeIds.map((id) => [id, new Map<string, number>()]),
    );
    for (const { episodeId, anchor, visits: count } of rows) visits.get(episodeId)?.set(anchor, count);
    return new Map(
      [...visits].map(([episodeId, counts]) => [episodeId, (anchor: string) => counts.get(anchor) ?? 0]),
    );
  }
}

/**
 * Visits are summed up by state and time of the episode's end, so that each episode of the batch meets one row a state, however
 * long the history. Of two records at one place the first in log order counts, as everywhere.
 */
function selectVisits(episodeIds: readonly string[]): string {
  const batch = amongEpisodes(episodeIds);
  const steps = (only: string) => `
    SELECT episode_id, assumeNotNull(anchor) AS state FROM events
    WHERE run_id = {runId:String} AND kind = 'StepRecorded' AND anchor IS NOT NULL AND ${only}
    ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY run_id, episode_id, seq`;
  return `
    WITH
      wanted AS (
        SELECT DISTINCT s.episode_id AS episode_id, s.state AS state, b.began AS began
        FROM (${steps(batch)}) AS s
        INNER JOIN (
          SELECT episode_id, argMin(occurred_at, log_offset) AS began FROM events
          WHERE run_id = {runId:String} AND kind = 'EpisodeStarted' AND ${batch}
          GROUP BY episode_id
        ) AS b ON s.episode_id = b.episode_id
      ),
      ended AS (
        SELECT episode_id, argMinIf(occurred_at, log_offset, kind = 'EpisodeEnded') AS ended
        FROM events
        WHERE run_id = {runId:String} AND kind IN ('EpisodeStarted', 'EpisodeEnded') AND episode_id != ''
        GROUP BY episode_id
        HAVING countIf(kind = 'EpisodeEnded') > 0 AND argMinIf(split, log_offset, kind = 'EpisodeStarted') = 'train'
      ),
      visited AS (
        SELECT state, ended, sum(count()) OVER (PARTITION BY state ORDER BY ended) AS visits
        FROM (${steps(`anchor IN (SELECT state FROM wanted)`)}) AS s
        INNER JOIN ended AS e ON s.episode_id = e.episode_id
        GROUP BY state, ended
      )
    SELECT w.episode_id AS episodeId, w.state AS anchor, toFloat64(v.visits) AS visits
    FROM wanted AS w ASOF INNER JOIN visited AS v ON w.state = v.state AND w.began > v.ended`;
}
