import type { RewardEpisode } from '../episode.js';
import { END_REASONS, type EpisodeColumns } from '@retrace/trajectory';
import type { EpisodeTexts } from '@retrace/store';

export interface StoredEpisodes {
  readonly columns: EpisodeColumns;
  /** [E]; null when no component reads them. */
  readonly texts: readonly EpisodeTexts[] | null;
}

/** Builds one episode as reward components see it; without `texts`, only from its columns. */
export function rewardEpisode({ columns, texts }: StoredEpisodes, episode: number): RewardEpisode {
  const first = columns.stepOffsets[episode];
  const numSteps = columns.stepOffsets[episode + 1] - first;
  const episodeTexts = texts?.[episode];
  return {
    environment: episodeTexts?.environment ?? '',
    task: episodeTexts?.task ?? null,
    finalObservation: episodeTexts?.finalObservation ?? '',
    endReason: END_REASONS[columns.endReasons[episode]],
    success: columns.successes[episode] < 0 ? null : columns.successes[episode] === 1,
    steps: Array.from({ length: numSteps }, (_, step) => {
      const s = first + step;
      const stepTexts = episodeTexts?.steps[step];
      return {
        observation: stepTexts?.observation ?? '',
        action: stepTexts?.action ?? '',
        parsedAction: stepTexts?.parsedAction ?? null,
        rewardNames: stepTexts?.rewardNames ?? [],
        rewardValues: stepTexts?.rewardValues ?? [],
        actionValid: columns.actionValid[s] === 1,
        anchor: columns.anchors[s],
        reward: Number.isNaN(columns.rewards[s]) ? null : columns.rewards[s],
        numActionTokens: countActionTokens(columns, s),
      };
    }),
  };
}

function countActionTokens(columns: EpisodeColumns, step: number): number {
  let count = 0;
  for (let n = columns.tokenOffsets[step]; n < columns.tokenOffsets[step + 1]; n++)
    count += columns.actionMask[n];
  return count;
}
