import { TrajectoryError } from '@retrace/trajectory';

/** Reasons why a method of an `EventLog` fails. */
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
  /** Records are missing: removed at the start, lost at the end, or the partition was deleted and created again. */
  | 'LOG_RECORDS_MISSING'
  /** A topic was deleted, or deleted and created again. */
  | 'LOG_REPLACED'
  | 'LOG_ROLE_TAKEN'
  | 'LOG_FAILED';

/** Methods of an `EventLog` reject with this error. */
export class LogError extends TrajectoryError<LogErrorCode> {}
