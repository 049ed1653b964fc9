import type { EpisodeFacts } from '../stored-episode.js';

/** An episode that the query chose. */
export interface SelectedEpisode {
  readonly facts: EpisodeFacts;
  /** The data set's split, which may differ from the one that the episode was played in. */
  readonly split: string;
  /** The chosen steps, ascending; null = the whole episode. */
  readonly steps: readonly number[] | null;
  /** Number by which preference pairs are compared; null = unknown. */
  readonly score: number | null;
  /** The step of another episode that it was forked from; null where it was not. */
  readonly forkedFrom: ForkPoint | null;
}

export interface ForkPoint {
  readonly episodeId: string;
  readonly step: number;
}
