type ProcessErrorCode =
  | 'ENVIRONMENT_VARIABLE_INVALID'
  | 'DATA_DIRECTORY_UNUSABLE'
  | 'DATA_DIRECTORY_IN_USE'
  | 'KEY_FILE_DAMAGED'
  | 'SERVER_FAILED';

/** An environment variable, data directory or key file that can't be used, or a server that did not start. The message names the field, the value and the rule. */
export class ProcessError extends Error {
  readonly retriable = false;
  constructor(
    readonly code: ProcessErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ProcessError';
  }
}
