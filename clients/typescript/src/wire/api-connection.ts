import { describeReason, RetraceError, type FieldError, type RetraceErrorCode } from './retrace-error.js';

export interface ApiConnectionOptions {
  /** Where the server is, for example `http://127.0.0.1:8787`. */
  readonly url: string;
  readonly apiKey?: string;
  /** Longest wait for an answer (default 30,000). */
  readonly requestTimeoutMs?: number;
  readonly fetch?: typeof fetch;
}

export interface ApiRequest {
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const MAX_DETAIL_CHARACTERS = 1_000;

/** Sends requests to Retrace's API, with the key, and turns every failure into a `RetraceError`. */
export class ApiConnection {
  readonly isLoopback: boolean;
  private readonly base: string;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly requestTimeoutMs: number;
  private readonly fetch: typeof fetch;

  constructor(options: ApiConnectionOptions) {
    const url = new URL(options.url);
    this.base = `${url.origin}${url.pathname.replace(/\/$/, '')}`;
    this.isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
    this.headers = options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {};
    this.requestTimeoutMs = options.requestTimeoutMs ?? 30_000;
    this.fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /** Answers of status 200 to 299, completely received within the time limit. */
  async request<Answer>(
    method: 'GET' | 'POST',
    path: string,
    request: ApiRequest,
    read: (response: Response) => Promise<Answer>,
  ): Promise<Answer> {
    const limit = AbortSignal.timeout(this.requestTimeoutMs);
    const signal = request.signal ? AbortSignal.any([request.signal, limit]) : limit;
    const response = await this.open(method, path, { ...request, signal });
    return this.named(method, path, read(response));
  }

  /** Opens an answer whose body may go on for ever. */
  async open(method: 'GET' | 'POST', path: string, request: ApiRequest): Promise<Response> {
    const headers = { ...this.headers, ...request.headers };
    const { body, signal } = request;
    const sent = this.fetch(`${this.base}${path}`, {
      method,
      headers,
      redirect: 'error',
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    const response = await this.named(method, path, sent);
    if (!response.ok) throw await readProblem(method, path, response);
    return response;
  }

  private async named<Value>(method: string, path: string, waiting: Promise<Value>): Promise<Value> {
    try {
      return await waiting;
    } catch (cause) {
      throw new RetraceError('UNREACHABLE', `${method} ${this.base}${path}: ${describeReason(cause)}`, {
        cause,
      });
    }
  }
}

async function readProblem(method: string, path: string, response: Response): Promise<RetraceError> {
  const text = await response.text().catch(() => '');
  const { code, detail, errors } = parseProblem(text);
  const told = detail ?? text.slice(0, MAX_DETAIL_CHARACTERS);
  return new RetraceError(toErrorCode(response.status), `${method} ${path}: ${response.status} ${told}`, {
    status: response.status,
    problem: code,
    errors,
    retryAfterMs: parseRetryAfterMs(response.headers.get('retry-after')),
  });
}

function toErrorCode(status: number): RetraceErrorCode {
  if (status === 401 || status === 403) return 'UNAUTHORIZED';
  return status === 408 || status === 429 || status >= 500 ? 'BUSY' : 'REFUSED';
}

interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
}

function parseProblem(text: string): Problem {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

/** Reads `Retry-After`: seconds, or a date. */
function parseRetryAfterMs(header: string | null): number | null {
  if (header === null || header === '') return null;
  const seconds = Number(header);
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : null;
}
