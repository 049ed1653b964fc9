export type EnvironmentErrorCode =
  /** No environment is registered under that name. */
  | 'UNKNOWN_ENVIRONMENT'
  /** The environment has no scripted agent of that name. */
  | 'UNKNOWN_AGENT'
  /** The name is taken. */
  | 'DUPLICATE_ENVIRONMENT'
  /** A spec that breaks a rule of the registry. */
  | 'INVALID_SPEC'
  /** Task parameters that the environment cannot be reset with. */
  | 'INVALID_TASK'
  /** A snapshot that the environment cannot go on from. */
  | 'INVALID_SNAPSHOT'
  /** A seed, index or bound outside its range. */
  | 'INVALID_ARGUMENT'
  /** Stepped before the first reset. */
  | 'NOT_RESET'
  /** Stepped after the episode ended. */
  | 'EPISODE_OVER'
  /** A scripted agent was given another environment than its own. */
  | 'WRONG_ENVIRONMENT';

/** Base error of this library. No retry helps. */
export class EnvironmentError extends Error {
  readonly retriable = false;

  constructor(
    readonly code: EnvironmentErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'EnvironmentError';
  }
}
