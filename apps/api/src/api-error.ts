export type ApiErrorCode = 'ADDRESS_UNUSABLE';

/** Why the API can't run, in a sentence that says what to do. */
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
