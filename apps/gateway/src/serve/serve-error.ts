export type ServeErrorCode = 'OPTION_INVALID' | 'PORT_TAKEN';

/** An error that keeps the server from starting. */
export class ServeError extends Error {
  readonly retriable = false;

  constructor(
    readonly code: ServeErrorCode,
    message: string,
    options: ErrorOptions = {},
  ) {
    super(message, options);
    this.name = 'ServeError';
  }
}
