export type RewardErrorCode =
  /** No reward component is registered under that name. */
  | 'UNKNOWN_NAME'
  /** The name is taken, in the registry or in one composition. */
  | 'DUPLICATE_NAME'
  /** No component of a composition is meant for the episode's data source. */
  | 'UNKNOWN_SOURCE'
  /** An option, weight or array that breaks its rule. */
  | 'INVALID_ARGUMENT';

/** Base error of this library. A component that fails on an episode is not thrown: it is a fault in the episode's breakdown. */
export class RewardError extends Error {
  readonly retriable = false;

  constructor(
    readonly code: RewardErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'RewardError';
  }
}
