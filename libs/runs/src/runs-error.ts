export type RunsErrorCode =
  | 'OPTION_INVALID'
  | 'POLICY_REMOVED'
  | 'POLICY_UNKNOWN'
  | 'RUN_ACTIVE'
  | 'RUN_AMBIGUOUS'
  | 'RUN_UNKNOWN';

/** Refuses what was asked of a run. The message is one sentence: what is wrong and what to do. */
export class RunsError extends Error {
  readonly retriable = false;
  constructor(
    readonly code: RunsErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'RunsError';
  }
}
