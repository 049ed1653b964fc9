export type ComputeErrorCode =
  /** No backend that was asked for can be opened. */
  | 'BACKEND_UNAVAILABLE'
  /** The machine lacks something that the installation needs; the message names it. */
  | 'BACKEND_NOT_INSTALLABLE'
  /** The installation was begun and failed, or was cancelled; what was installed before is untouched. */
  | 'BACKEND_INSTALL_FAILED';

export interface ComputeErrorOptions extends ErrorOptions {
  /** Whether the same call may succeed later without any change by the caller. */
  readonly retriable?: boolean;
}

/** An error of this library. The message names the quantity, the value and the rule. */
export class ComputeError extends Error {
  readonly retriable: boolean;

  constructor(
    readonly code: ComputeErrorCode,
    message: string,
    { retriable = false, ...options }: ComputeErrorOptions = {},
  ) {
    super(message, options);
    this.name = 'ComputeError';
    this.retriable = retriable;
  }
}
