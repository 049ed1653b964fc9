export type CollectorErrorCode =
  /** No policy is published yet. */
  | 'NO_POLICY'
  /** A setting of the recipe that only the running process can check. */
  | 'INVALID_SETTING'
  /** The environment failed in too many episodes in a row. */
  | 'ENVIRONMENT_FAILED'
  /** The spool file has another format, was damaged while in use, or belongs to another log. */
  | 'SPOOL_UNUSABLE';

export class CollectorError extends Error {
  readonly retriable = false;
  constructor(
    readonly code: CollectorErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'CollectorError';
  }
}
