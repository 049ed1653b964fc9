/** What can be wrong with an event, an id or token columns: the caller's data. */
export type DataErrorCode =
  'INVALID_ID' | 'INVALID_EVENT' | 'INVALID_ARGUMENT' | 'INCONSISTENT_COLUMNS' | 'UNKNOWN_RUN';

/** What an event log can fail with. */
export type LogErrorCode =
  | 'LOG_CLOSED'
  | 'LOG_DISK_FULL'
  | 'LOG_MAP_FULL'
  | 'LOG_NOT_WRITABLE'
  | 'LOG_INCOMPATIBLE'
  | 'LOG_CORRUPT'
  | 'LOG_RECORD_TOO_LARGE'
  | 'LOG_UNKNOWN_PARTITION'
  | 'LOG_APPEND_TOO_LARGE'
  | 'LOG_UNREACHABLE'
  | 'LOG_UNAUTHORIZED'
  /** Records that were there are gone: removed at the start, lost at the end, or the partition was made again. */
  | 'LOG_RECORDS_MISSING'
  /** A topic or file of the log is another than the one it was opened with. */
  | 'LOG_REPLACED'
  | 'LOG_ROLE_TAKEN'
  | 'LOG_FAILED';

export type TrajectoryErrorCode = DataErrorCode | LogErrorCode;

export interface TrajectoryErrorOptions {
  /** Whether the same call may succeed later without a change by the caller (default false). */
  readonly retriable?: boolean;
  readonly cause?: unknown;
}

/** Base error of this library. Messages name the quantity, the value and the rule. */
export class TrajectoryError<Code extends string = TrajectoryErrorCode> extends Error {
  readonly code: Code;
  readonly retriable: boolean;

  constructor(code: Code, message: string, options: TrajectoryErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retriable = options.retriable ?? false;
  }
}

/** What the methods of an `EventLog` reject with. */
export class LogError extends TrajectoryError<LogErrorCode> {}
