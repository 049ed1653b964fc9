export type ComputeErrorCode =
  /** None of the requested backends can be opened. */
  | 'BACKEND_UNAVAILABLE'
  /** The machine lacks something that the installation needs, which the message names. */
  | 'BACKEND_NOT_INSTALLABLE'
  /** The installation failed or was cancelled; earlier installations are unchanged. */
  | 'BACKEND_INSTALL_FAILED';

export interface ComputeErrorOptions extends ErrorOptions {
  /** Whether the same call may succeed later, without a change by the caller. */
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
