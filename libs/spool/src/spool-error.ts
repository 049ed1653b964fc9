export type SpoolErrorCode =
  /** A file in the directory is not a segment, or has records that belong to somebody else. */
  | 'SPOOL_UNUSABLE'
  /** A file became shorter, or a record changed, since the spool was opened. */
  | 'SPOOL_DAMAGED'
  /** Too many bytes wait for the disk. */
  | 'SPOOL_FULL'
  | 'SPOOL_RECORD_TOO_LARGE'
  /** The disk refused the records; `cause` has its error. */
  | 'SPOOL_WRITE_FAILED'
  | 'SPOOL_CLOSED';

/** An error of a spool. After one that is retriable, the same records may be appended again. */
export class SpoolError extends Error {
  override readonly name = 'SpoolError';

  constructor(
    readonly code: SpoolErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  get retriable(): boolean {
    return this.code === 'SPOOL_FULL' || this.code === 'SPOOL_WRITE_FAILED';
  }
}
