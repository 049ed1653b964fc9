import { TrajectoryError } from '@retrace/trajectory';

export type ArrowErrorCode =
  /** The bytes are not an Arrow stream, or one that can't be read here. */
  | 'ARROW_UNREADABLE'
  /** The stream lacks its end mark: it was cut off, or ends in the text of an exception. */
  | 'ARROW_INCOMPLETE'
  /** A column is missing, or of another type than asked for. */
  | 'ARROW_UNEXPECTED_COLUMN';

export class ArrowError extends TrajectoryError<ArrowErrorCode> {}
