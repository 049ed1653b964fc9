/** Faults of the caller's data: an event, an id or token columns. */
export type TrajectoryErrorCode =
  | 'INVALID_ID'
  | 'INVALID_EVENT'
  | 'INVALID_ARGUMENT'
  | 'INCONSISTENT_COLUMNS'
  | 'UNKNOWN_RUN';

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
