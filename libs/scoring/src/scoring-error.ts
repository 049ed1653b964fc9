export type ScoringErrorCode =
  /** A file with a reward is missing, cannot be run, or does not export a reward as its default. */
  | 'MODULE_INVALID'
  /** A module whose code should be hashed is missing or not a module. */
  | 'MODULE_UNREADABLE'
  /** A reward version that the store has no scores of. */
  | 'VERSION_UNKNOWN'
  /** The beginning of several reward versions. */
  | 'VERSION_AMBIGUOUS'
  /** An episode of a replayed update has another reward than before. */
  | 'REWARD_CHANGED'
  /** A place in the log, up to which assigned rewards are read, that is none. */
  | 'UNTIL_INVALID'
  /** No episode has a reward of that name. */
  | 'NOTHING_ASSIGNED'
  /** Too little in common between two versions to compare them. */
  | 'NOTHING_TO_COMPARE';

/** Base error of this library. A reward that fails on an episode is not thrown: it is a fault in the episode's score. */
export class ScoringError extends Error {
  readonly retriable = false;

  constructor(
    readonly code: ScoringErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.name = 'ScoringError';
  }
}
