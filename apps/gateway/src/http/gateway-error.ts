type GatewayErrorCode = 'OPTION_INVALID' | 'STATE_DIRECTORY_UNUSABLE' | 'PORT_TAKEN';

/** An error that keeps a server from starting. */
export class GatewayError extends Error {
  readonly retriable = false;

  constructor(
    readonly code: GatewayErrorCode,
    message: string,
    options: ErrorOptions = {},
  ) {
    super(message, options);
    this.name = 'GatewayError';
  }
}
