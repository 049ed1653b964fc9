import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { EndpointError } from '../endpoint-error.js';

const SHOWN_CHARACTERS = 200;
const NOT_FOUND = 404;

/** One attempt at a request. */
export interface Attempt {
  /** Default POST. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Time for one attempt. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface RequestTarget {
  /** Address of the server, for messages. */
  readonly url: string;
  readonly connections: Dispatcher;
  /** Path that those of requests are appended to; no slash at its end. */
  readonly basePath: string;
  readonly maxAnswerBytes: number;
}

const JSON_HEADERS = { 'content-type': 'application/json' };

/**
 * Makes a request, and returns the text of its answer.
 *
 * @param timeoutMs of this attempt, where less is left than its own
 * @throws EndpointError; the signal's reason once it aborts
 */
export function requestOnce(
  server: RequestTarget,
  attempt: Attempt,
  timeoutMs = attempt.timeoutMs,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const exchange = new Exchange({ server, attempt, timeoutMs }, { resolve, reject });
    if (exchange.isOver) return;
    const { method = 'POST', path, body, headers } = attempt;
    server.connections.dispatch(
      {
        method,
        path: server.basePath + path,
        headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers },
        body: body === undefined ? null : JSON.stringify(body),
      },
      exchange,
    );
  });
}

interface ExchangeParts {
  readonly server: RequestTarget;
  readonly attempt: Attempt;
  readonly timeoutMs: number;
}

interface Outcome {
  readonly resolve: (text: string) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A request and its answer. It takes the answer's bytes from the connection itself: a stream, its iterator and a signal for each request take
 * several times as long.
 */
class Exchange implements Dispatcher.DispatchHandler {
  isOver = false;
  private readonly timer: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | null = null;
  private status = 0;
  private headers: IncomingHttpHeaders = {};
  private readonly chunks: Buffer[] = [];
  private numBytes = 0;

  constructor(
    private readonly parts: ExchangeParts,
    private readonly outcome: Outcome,
  ) {
    const { timeoutMs, attempt } = parts;
    this.timer = setTimeout(() => {
      // After a pause of the whole process its timers run before its connections: an answer that came meanwhile still counts.
      setImmediate(() => {
        this.fail(new EndpointError('TIMEOUT', `no answer within the timeout of ${timeoutMs} ms`));
      });
    }, timeoutMs);
    attempt.signal?.addEventListener('abort', this.cancel);
    if (attempt.signal?.aborted) this.cancel();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // It may have ended while it waited for a connection.
    if (this.isOver) controller.abort(new Error('the request has ended'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.status = status;
    this.headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxAnswerBytes } = this.parts.server;
    this.numBytes += chunk.length;
    if (this.numBytes <= maxAnswerBytes) {
      this.chunks.push(chunk);
      return;
    }
    const message = `the answer has more than ${maxAnswerBytes} bytes`;
    this.fail(new EndpointError('MALFORMED_ANSWER', message));
  }

  onResponseEnd(): void {
    if (this.isOver) return;
    const { chunks, status, headers } = this;
    const text = (chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString('utf8');
    const isPage = /^text\/html\b/i.test(String(headers['content-type'] ?? ''));
    // Other statuses are of a request that a gateway refused, such as one that is too large.
    if (isPage && (status < 400 || status === NOT_FOUND)) {
      this.fail(this.otherProgram(text));
      return;
    }
    if (status >= 300) {
      this.fail(statusError(status, headers, text));
      return;
    }
    this.end();
    this.outcome.resolve(text);
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    const isOther = cause.name === 'HTTPParserError';
    const message = isOther
      ? `what answers at ${this.parts.server.url} is no HTTP server: ${cause.message}`
      : cause.message;
    this.fail(new EndpointError(isOther ? 'OTHER_PROGRAM' : 'UNREACHABLE', message, { cause }));
  }

  private otherProgram(text: string): EndpointError {
    const { status, headers, parts } = this;
    const shown = text.slice(0, SHOWN_CHARACTERS).replace(/\s+/g, ' ').trim();
    const message = `a web page answers at ${parts.server.url}, no server of a model (HTTP ${status}): ${shown}`;
    return new EndpointError('OTHER_PROGRAM', message, { status, retryAfterMs: readWait(headers) });
  }

  private readonly cancel = (): void => {
    this.fail(this.parts.attempt.signal?.reason);
  };

  private fail(reason: unknown): void {
    if (this.isOver) return;
    this.end();
    this.outcome.reject(reason);
    this.controller?.abort(reason instanceof Error ? reason : new Error('the request was cancelled'));
  }

  private end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.parts.attempt.signal?.removeEventListener('abort', this.cancel);
  }
}

function statusError(status: number, headers: IncomingHttpHeaders, text: string): EndpointError {
  const detail = text.slice(0, SHOWN_CHARACTERS).trim();
  const retryAfterMs = readWait(headers);
  const message = `HTTP ${status}${detail === '' ? '' : `: ${detail}`}`;
  return new EndpointError('HTTP_STATUS', message, { status, retryAfterMs });
}

/** Wait that the server asks for: milliseconds (OpenAI), seconds, or a date (RFC 9110, 10.2.3). */
function readWait(headers: IncomingHttpHeaders): number | null {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const after = String(headers['retry-after'] ?? '');
  const ms = /^\d+(\.\d+)?$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
