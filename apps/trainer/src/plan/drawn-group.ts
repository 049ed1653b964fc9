import type { WeightedDraw } from '@retrace/algorithms/sampling';

/** How a group came to be drawn by its weight. */
export interface DrawChance {
  readonly weight: number;
  readonly drawnAt: number;
  /** When the next one of its draw would have been drawn. */
  readonly nextTime: number;
}

/** The chance of the k-th group of a draw. */
export function computeChance({ weights, times, nextTime }: WeightedDraw, k: number): DrawChance {
  return { weight: weights[k], drawnAt: times[k], nextTime };
}

/** A group that was drawn for an update. */
export interface DrawnGroup {
  /** Place in the recipe's sources. */
  readonly source: number;
  /** Null = the run itself. */
  readonly runId: string | null;
  /** Row in the list of its source; −1 for groups of the run itself. */
  readonly row: number;
  readonly groupId: string;
  readonly episodeIds: readonly string[];
  readonly numSteps: ArrayLike<number>;
  /** Offset of its `GroupsClosed`; null for groups of other runs. */
  readonly offset: number | null;
  /** Gives its probability to be drawn (`inclusionProbabilities`); null where none was preferred. */
  readonly chance: DrawChance | null;
}
