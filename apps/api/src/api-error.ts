type ApiErrorCode = 'ADDRESS_UNUSABLE';

/** The API can not run; the message says what to do. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly retriable = false;

  constructor(
    readonly code: ApiErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
