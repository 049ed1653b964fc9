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
  /** Probability at the draw, and the number of groups that it was drawn from; null where none was preferred. */
  readonly chance: { readonly probability: number; readonly numItems: number } | null;
}
