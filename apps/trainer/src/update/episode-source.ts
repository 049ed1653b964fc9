import type { EventLog } from '@retrace/log';
import type { EpisodeTexts, LostEpisode } from '@retrace/store';
import type { EpisodeColumns } from '@retrace/trajectory';

/** Where the trainer reads whole episodes; `TrajectoryReader` is one. */
export interface EpisodeSource {
  /** Rejects with a retriable error while an episode is not visible yet. */
  readEpisodes(runId: string, episodeIds: readonly string[]): Promise<EpisodeColumns>;
  readEpisodeTexts(runId: string, episodeIds: readonly string[]): Promise<EpisodeTexts[]>;
  /** Those of these episodes that will never be whole. */
  findLost(log: EventLog, runId: string, episodeIds: readonly string[]): Promise<readonly LostEpisode[]>;
}
