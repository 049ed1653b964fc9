import type { StoreClient } from '../client/store-client.js';

/** Which episodes of a run are kept; an episode that either bound excludes is not. */
export interface EpisodeRetention {
  /** Episodes whose last step, start or end is older go, in microseconds since the Unix epoch; null = of any age are kept. */
  readonly beforeUs: number | null;
  /** As many are kept, the newest; null = any number. */
  readonly maxEpisodes: number | null;
}

/** An episode that a run no longer keeps. */
export interface ExpiredEpisode {
  readonly episodeId: string;
  /** Time of its last step, start or end, as SQL shows it. */
  readonly lastEventAt: string;
  /** Whether an update was trained on it, so that it can only be deleted by force. */
  readonly isReferredTo: boolean;
}

/**
 * Reads the episodes of a run that its retention excludes, oldest first. Rewards and annotations, which may come much later, don't make an
 * episode younger.
 *
 * @throws StoreError
 */
export function readExpiredEpisodes(
  client: StoreClient,
  runId: string,
  { beforeUs, maxEpisodes }: EpisodeRetention,
): Promise<ExpiredEpisode[]> {
  return client.queryRows<ExpiredEpisode>(
    `SELECT episode_id AS episodeId, toString(last_at) AS lastEventAt,
       toBool(episode_id IN (SELECT arrayJoin(episode_ids) FROM updates)) AS isReferredTo
     FROM (
       SELECT episode_id, last_at, row_number() OVER (ORDER BY last_at DESC, episode_id DESC) AS place
       FROM (
         SELECT episode_id, max(occurred_at) AS last_at
         FROM events
         WHERE run_id = {runId:String} AND kind IN ('EpisodeStarted', 'StepRecorded', 'EpisodeEnded')
         GROUP BY episode_id
       )
     )
     WHERE toUnixTimestamp64Micro(last_at) < {beforeUs:Int64} OR place > {maxEpisodes:UInt64}
     ORDER BY last_at, episode_id`,
    { params: { runId, beforeUs: beforeUs ?? 0, maxEpisodes: maxEpisodes ?? Number.MAX_SAFE_INTEGER } },
  );
}
