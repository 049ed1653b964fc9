import { TrajectoryError } from '@retrace/trajectory';

export type RunFileErrorCode =
  /** No Arrow stream, or one that holds no run. */
  | 'RUN_FILE_UNKNOWN'
  /** Cut off, or changed since it was written. */
  | 'RUN_FILE_DAMAGED'
  /** Written in a form, or with events, that only newer code knows. */
  | 'RUN_FILE_VERSION'
  /** The log has no such run. */
  | 'RUN_NOT_FOUND'
  /** The log has the run already. */
  | 'RUN_EXISTS';

/** An error of the export or import of a run. */
export class RunFileError extends TrajectoryError<RunFileErrorCode> {}
