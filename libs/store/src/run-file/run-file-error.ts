import { TrajectoryError } from '@retrace/trajectory';

export type RunFileErrorCode =
  /** The file is not an Arrow stream, or one without a run. */
  | 'RUN_FILE_UNKNOWN'
  /** The file was cut off, or changed since it was written. */
  | 'RUN_FILE_DAMAGED'
  /** The file has a format version, or events, that only newer code knows. */
  | 'RUN_FILE_VERSION'
  /** The log has no such run. */
  | 'RUN_NOT_FOUND'
  /** The log has the run already. */
  | 'RUN_EXISTS';

/** The error of exporting and importing a run. */
export class RunFileError extends TrajectoryError<RunFileErrorCode> {}
