export type RewardErrorCode =
  /** No reward component is registered under that name. */
  | 'UNKNOWN_NAME'
  /** The name is taken, in the registry or in one composition. */
  | 'DUPLICATE_NAME'
  /** No component of a composition is meant for the episode's data source. */
  | 'UNKNOWN_SOURCE'
  /** An option, weight or array that breaks its rule. */
  | 'INVALID_ARGUMENT'
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

/** Base error of this library. A component that fails on an episode is not thrown: it is a fault in the episode's breakdown. */
export class RewardError extends Error {
  readonly retriable = false;

  constructor(
    readonly code: RewardErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.name = 'RewardError';
  }
}
