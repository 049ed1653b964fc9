import type { EventLog } from '@retrace/log';
import type { EpisodeTexts, LostEpisode } from '@retrace/store';
import type { EpisodeColumns } from '@retrace/trajectory';

/** Where the trainer reads whole episodes: `FreshEpisodes`, and behind it the store (`TrajectoryReader`) or the whole log (`WholeLogEpisodes`). */
export interface EpisodeSource {
  /** Rejects with a retriable error while an episode is not visible yet. */
  readEpisodes(runId: string, episodeIds: readonly string[]): Promise<EpisodeColumns>;
  readEpisodeTexts(runId: string, episodeIds: readonly string[]): Promise<EpisodeTexts[]>;
  /** Resolves true once it shows all that the log holds at the time of the call; false after `timeoutMs`, or when the signal aborts. */
  untilCaughtUp(
    log: EventLog,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<boolean>;
  /** Finds the episodes among these that will never be whole. */
  findLost(log: EventLog, runId: string, episodeIds: readonly string[]): Promise<readonly LostEpisode[]>;
}
