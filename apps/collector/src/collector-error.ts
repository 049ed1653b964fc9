export type CollectorErrorCode =
  /** No policy is published that could act. */
  | 'NO_POLICY'
  /** A setting of the recipe that only the running process can judge. */
  | 'INVALID_SETTING'
  /** A spool file that is none, is damaged while in use, or belongs to another log. */
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
