type ApiErrorCode =
  | 'ADDRESS_UNUSABLE'
  | 'API_KEY_MISSING'
  | 'NOT_ANSWERED'
  | 'NOT_FOUND'
  | 'REDACTION_RULES_INVALID';

/** Exit code of a process whose configuration is wrong. */
const USAGE = 2;

/** The API can not run; the message says what to do. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly retriable = false;

  get exitCode(): number {
    return ['ADDRESS_UNUSABLE', 'NOT_ANSWERED', 'NOT_FOUND'].includes(this.code) ? 1 : USAGE;
  }

  constructor(
    readonly code: ApiErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
