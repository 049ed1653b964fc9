export type AlgorithmErrorCode =
  /** A number, array or option that breaks its rule. */
  | 'INVALID_ARGUMENT'
  /** Nothing is registered under that name. */
  | 'UNKNOWN_NAME'
  /** The name is taken. */
  | 'DUPLICATE_NAME'
  /** An input that this estimator or loss cannot do without. */
  | 'MISSING_INPUT'
  /** A combination that has no sound meaning, e.g. one correction counted twice. */
  | 'UNSUPPORTED'
  /** Data that cannot carry the estimate that was asked for. */
  | 'INSUFFICIENT_DATA'
  /** A result that float32 cannot store, from inputs that it can. */
  | 'OVERFLOW';

/** Base error of this library. The library is pure, so no retry helps. */
export class AlgorithmError extends Error {
  readonly retriable = false;

  constructor(
    readonly code: AlgorithmErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'AlgorithmError';
  }
}
