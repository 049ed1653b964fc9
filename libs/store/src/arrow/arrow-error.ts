import { TrajectoryError } from '@retrace/trajectory';

export type ArrowErrorCode =
  /** The bytes are no Arrow stream, or of a kind that can't be read here. */
  | 'ARROW_UNREADABLE'
  /** The stream ends before its end mark: what follows is lost, or an exception's text. */
  | 'ARROW_INCOMPLETE'
  /** A column is missing, or of another type than asked for. */
  | 'ARROW_UNEXPECTED_COLUMN';

export class ArrowError extends TrajectoryError<ArrowErrorCode> {}
