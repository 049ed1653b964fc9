export type EndpointErrorCode =
  /** No connection, or it broke. */
  | 'UNREACHABLE'
  /** Something else answers at the address: a web page, as of a gateway or another program. */
  | 'OTHER_PROGRAM'
  | 'TIMEOUT'
  /** The server's rate limits left no room for the request before its deadline. */
  | 'DEADLINE'
  /** The server refused with an HTTP status. */
  | 'HTTP_STATUS'
  /** The server answered in another form than its protocol has. */
  | 'MALFORMED_ANSWER'
  /** Not asked, since the server did not answer several times in a row. */
  | 'NOT_ASKED'
  /** The server says that it serves other weights than it was given. */
  | 'WEIGHTS_NOT_TAKEN'
  /** The server can't do what is asked for, as it was started. */
  | 'UNSUPPORTED'
  | 'INVALID_SETTING';

interface EndpointErrorOptions extends ErrorOptions {
  readonly status?: number;
  readonly retryAfterMs?: number | null;
}

/** A server of a model did not give what was asked for. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError';
  readonly status: number | null;
  /** Wait that the server asked for, in milliseconds; null where it asked for none. */
  readonly retryAfterMs: number | null;

  constructor(
    readonly code: EndpointErrorCode,
    message: string,
    { status, retryAfterMs, ...options }: EndpointErrorOptions = {},
  ) {
    super(message, options);
    this.status = status ?? null;
    this.retryAfterMs = retryAfterMs ?? null;
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    if (this.code === 'HTTP_STATUS') {
      const status = this.status ?? 0;
      return status === 408 || status === 429 || status >= 500;
    }
    return ['UNREACHABLE', 'OTHER_PROGRAM', 'TIMEOUT', 'MALFORMED_ANSWER'].includes(this.code);
  }

  /** Whether the server is down or starts: nothing listens, another program does, or a gateway before it says so (502, 503, 504). */
  get showsServerDown(): boolean {
    if (this.code === 'HTTP_STATUS') return [502, 503, 504].includes(this.status ?? 0);
    return this.code === 'UNREACHABLE' || this.code === 'OTHER_PROGRAM';
  }

  /** Whether the server is up: it answered, even if malformed or with a refusal (4xx). */
  get showsServerUp(): boolean {
    const status = this.status ?? 0;
    return this.code === 'MALFORMED_ANSWER' || (status >= 400 && status < 500);
  }
}
