/** Error of a request: the problem that the API answered with (RFC 9457), or the lack of an answer. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';

  constructor(
    /** HTTP status; 0 when the server could not be reached. */
    readonly status: number,
    readonly code: string,
    readonly title: string,
    detail: string,
  ) {
    super(detail);
  }

  /** True when the same request may succeed later: the server is starting, restarting, busy or unreachable. */
  get retriable(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 502;
  }

  /** True when the server would refuse the same request again. */
  get isRefusal(): boolean {
    return this.status >= 400 && this.status < 500 && !this.retriable;
  }
}

/** The problem in the body of a failed response; general words stand in for fields that the body lacks. */
export function toApiProblem(status: number, body: unknown): ApiProblem {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const text = (name: string, otherwise: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value : otherwise;
  };
  return new ApiProblem(
    status,
    text('code', 'UNKNOWN'),
    text('title', 'Request failed'),
    text('detail', `The server answered with status ${status}.`),
  );
}
