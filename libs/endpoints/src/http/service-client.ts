import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import pRetry, { AbortError } from 'p-retry';
import { Pool } from 'undici';
import { EndpointError } from '../endpoint-error.js';
import { CircuitBreaker } from './circuit-breaker.js';
import { requestOnce, type Attempt } from './request-once.js';

export interface ServiceOptions {
  /** Address below which the paths of requests lie. */
  readonly url: string;
  /** Most requests at one time. */
  readonly concurrency: number;
  /** First pause before a request is made again; doubles each time, up to 30 s (default 500). */
  readonly firstRetryMs?: number;
  /** After this many requests in a row without an answer the server counts as down, and is not asked for a while (default 8). */
  readonly maxFailuresInARow?: number;
  /** How long a server that is down is not asked; then one request tries it (default 30,000). */
  readonly downPauseMs?: number;
  /** Largest answer that is read (default 64 MiB). */
  readonly maxAnswerBytes?: number;
}

export interface ServiceRequest<Answer> extends Attempt {
  /** Attempts after the first. */
  readonly maxRetries: number;
  /** Reads the text of an answer. What it throws as `MALFORMED_ANSWER` is asked for again. */
  readonly read: (text: string) => Answer;
}

const LONGEST_RETRY_MS = 30_000;
const MAX_ANSWER_BYTES = 64 * 1024 ** 2;

/**
 * Makes requests to one server: at most so many at a time, temporary failures again (no connection, time-out, 408, 429, 5xx, an answer of
 * another form), and with pauses while it is down. Connections are kept.
 */
export class ServiceClient {
  /** HTTP requests, with those that were made again. */
  readonly counts = { numRequests: 0, numRetries: 0 };
  private readonly limit: ReturnType<typeof pLimit>;
  private readonly breaker: CircuitBreaker;
  private readonly connections: Pool;
  private readonly basePath: string;

  /** @throws EndpointError `INVALID_SETTING` when the address is none of HTTP */
  constructor(private readonly options: ServiceOptions) {
    const { origin, pathname } = addressOf(options.url);
    this.basePath = pathname.replace(/\/+$/, '');
    // Requests have time limits of their own.
    this.connections = new Pool(origin, {
      connections: options.concurrency,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.limit = pLimit(options.concurrency);
    this.breaker = new CircuitBreaker({
      maxFailuresInARow: options.maxFailuresInARow ?? 8,
      pauseMs: options.downPauseMs ?? 30_000,
    });
  }

  get url(): string {
    return this.options.url;
  }

  /** @throws EndpointError of the last attempt; the signal's reason once it aborts */
  request<Answer>(request: ServiceRequest<Answer>): Promise<Answer> {
    return this.limit(async () => {
      request.signal?.throwIfAborted();
      if (!this.breaker.admit()) {
        const { failuresInARow } = this.breaker;
        const message = `not asked, after ${failuresInARow} questions in a row without an answer`;
        throw new EndpointError('NOT_ASKED', message);
      }
      try {
        const answer = await this.retried(request);
        this.breaker.answered();
        return answer;
      } catch (error) {
        const isUp = error instanceof EndpointError ? error.showsServerUp : request.signal?.aborted === true;
        if (isUp) this.breaker.answered();
        else this.breaker.failed();
        request.signal?.throwIfAborted();
        throw error;
      }
    });
  }

  private retried<Answer>(request: ServiceRequest<Answer>): Promise<Answer> {
    const { maxRetries, signal, read } = request;
    const { connections, basePath } = this;
    const { firstRetryMs = 500, maxAnswerBytes = MAX_ANSWER_BYTES } = this.options;
    const attempt = async (): Promise<Answer> => {
      this.counts.numRequests++;
      try {
        return read(await requestOnce({ connections, basePath, maxAnswerBytes }, request));
      } catch (error) {
        const isFinal = signal?.aborted === true || !(error instanceof EndpointError && error.isTemporary);
        throw isFinal ? new AbortError(error as Error) : error;
      }
    };
    return pRetry(attempt, {
      retries: maxRetries,
      minTimeout: firstRetryMs,
      maxTimeout: LONGEST_RETRY_MS,
      randomize: true,
      signal,
      onFailedAttempt: async ({ error, retriesLeft }) => {
        if (retriesLeft === 0 || !(error instanceof EndpointError && error.isTemporary)) return;
        this.counts.numRetries++;
        await sleep(Math.min(error.retryAfterMs, LONGEST_RETRY_MS), undefined, { signal });
      },
    });
  }
}

function addressOf(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : null;
  if (address !== null && /^https?:$/.test(address.protocol)) return address;
  throw new EndpointError(
    'INVALID_SETTING',
    `url is "${url}", must be an address like http://127.0.0.1:8000`,
  );
}
