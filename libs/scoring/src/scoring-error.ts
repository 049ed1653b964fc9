export type ScoringErrorCode =
  /** A file with a reward is missing, cannot be run, or its default export is none. */
  | 'MODULE_INVALID'
  /** A module whose code should be hashed is missing or is no module. */
  | 'MODULE_UNREADABLE'
  /** A reward version that the store has no scores of. */
  | 'VERSION_UNKNOWN'
  /** An episode of an update that is made again has another reward than it had. */
  | 'REWARD_CHANGED'
  /** Too little in common between two versions to compare them. */
  | 'NOTHING_TO_COMPARE';

/** An error that this library throws on purpose. A reward that fails on an episode is none of it: that is a fault in its score. */
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
