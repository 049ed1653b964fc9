import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import pRetry, { AbortError } from 'p-retry';
import type { Pool } from 'undici';
import { EndpointError } from '../endpoint-error.js';
import { CircuitBreaker } from './circuit-breaker.js';
import { Pace, type PaceOptions } from './pace.js';
import { requestOnce, type Attempt, type RequestTarget } from './request-once.js';

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
  /**
   * Whether requests wait until their deadline for a server that is down, or refuses for its rate limit (429). Otherwise (default) a server
   * that is down is not asked, and such a failure counts among `maxRetries`.
   */
  readonly isPatient?: boolean;
  /** Called once for each time that the server is down, with the first failure that shows it. */
  readonly onDown?: (error: EndpointError) => void;
  /** Rate limits of the server (default none). */
  readonly pace?: PaceOptions;
  /** Largest answer that is read (default 64 MiB). */
  readonly maxAnswerBytes?: number;
}

export interface ServiceRequest<Answer> extends Attempt {
  /** Attempts after the first. */
  readonly maxRetries: number;
  /** Tokens of the prompt, and the most of the answer, for a limit of tokens a minute (default 0). */
  readonly numTokens?: number;
  /** Time for all attempts and the pauses between them, once there is a connection (default 600,000). */
  readonly deadlineMs?: number;
  /** Whether the request waits for a server that is down, where the client is patient (default true). */
  readonly waits?: boolean;
  /** Reads the text of an answer. What it throws as `MALFORMED_ANSWER` is asked for again. */
  readonly read: (text: string) => Answer;
}

const require = createRequire(import.meta.url);

const LONGEST_RETRY_MS = 30_000;
/** Longest pause of those who wait for a server that is down, so that they go on soon after its start. */
const LONGEST_DOWN_MS = 2_000;
const DOWN_POLL_MS = 100;
const DEADLINE_MS = 600_000;
const MAX_ANSWER_BYTES = 64 * 1024 ** 2;

/**
 * Makes requests to one server: at most so many at a time, temporary failures again (no connection, time-out, 408, 429, 5xx, an answer of
 * another form), and with pauses while it is down. No faster than its rate limits, and after a refusal for one (429) as late as it asks for.
 * Connections are kept.
 */
export class ServiceClient {
  /** HTTP requests, with those that were made again. */
  readonly counts = { numRequests: 0, numRetries: 0 };
  private readonly limit: ReturnType<typeof pLimit>;
  private readonly breaker: CircuitBreaker;
  private readonly connections: Pool;
  private readonly target: RequestTarget;
  private readonly pace: Pace;
  /** Failures in a row that show the server to be down. */
  private numDown = 0;
  /** The newest of them. */
  private down: EndpointError | null = null;
  /** Refusals in a row for a rate limit. */
  private numRateLimits = 0;

  /** @throws EndpointError `INVALID_SETTING` when the address is not of HTTP */
  constructor(private readonly options: ServiceOptions) {
    const { origin, pathname } = makeAddress(options.url);
    // Requests have time limits of their own.
    // Loaded by the first client: most processes that could ask a server ask none, and loading it takes 0.1 s of CPU time.
    const undici = require('undici') as { Pool: typeof Pool };
    this.connections = new undici.Pool(origin, {
      connections: options.concurrency,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.target = {
      url: options.url,
      connections: this.connections,
      basePath: pathname.replace(/\/+$/, ''),
      maxAnswerBytes: options.maxAnswerBytes ?? MAX_ANSWER_BYTES,
    };
    this.pace = new Pace(options.pace ?? {});
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
      const endMs = performance.now() + (request.deadlineMs ?? DEADLINE_MS);
      if (!this.breaker.admit()) await this.untilUp(request, endMs);
      try {
        const answer = await this.retried(request, endMs);
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

  private async untilUp(
    { signal, waits = true }: Pick<ServiceRequest<unknown>, 'signal' | 'waits'>,
    endMs: number,
  ): Promise<void> {
    do {
      if (this.options.isPatient !== true || !waits || performance.now() >= endMs) {
        const { failuresInARow } = this.breaker;
        const message = `not asked, after ${failuresInARow} questions in a row without an answer`;
        throw new EndpointError('NOT_ASKED', message);
      }
      await sleep(Math.min(DOWN_POLL_MS, Math.max(1, endMs - performance.now())), undefined, { signal });
    } while (!this.breaker.admit());
  }

  /** Ends every connection; requests under way fail. */
  close(): Promise<void> {
    return this.connections.destroy();
  }

  private async retried<Answer>(request: ServiceRequest<Answer>, endMs: number): Promise<Answer> {
    try {
      return await this.attempt(request, endMs);
    } catch (error) {
      return this.retriedAfter(error, request, endMs);
    }
  }

  /** @param failure of the first attempt, which most requests do not have */
  private retriedAfter<Answer>(
    failure: unknown,
    request: ServiceRequest<Answer>,
    endMs: number,
  ): Promise<Answer> {
    const { maxRetries, signal, waits = true } = request;
    const { firstRetryMs = 500, isPatient = false } = this.options;
    let numLeft = maxRetries;
    let isFirst = true;
    const isCounted = (error: unknown): boolean =>
      !(isPatient && (isRateLimit(error) || (waits && showsDown(error))));
    const attempt = async (): Promise<Answer> => {
      try {
        if (!isFirst) return await this.attempt(request, endMs);
        isFirst = false;
        throw failure;
      } catch (error) {
        const isTemporary = error instanceof EndpointError && error.isTemporary;
        const isLast = (isCounted(error) && numLeft-- === 0) || performance.now() >= endMs;
        if (!isTemporary || isLast || signal?.aborted) throw new AbortError(error as Error);
        this.counts.numRetries++;
        if (isRateLimit(error)) this.holdBack(error, this.numRateLimits++);
        else if (isPatient && waits && showsDown(error)) this.holdBack(error, this.numDown - 1);
        else this.pace.hold(error.retryAfterMs ?? 0);
        throw error;
      }
    };
    return pRetry(attempt, {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: firstRetryMs,
      maxTimeout: LONGEST_RETRY_MS,
      maxRetryTime: Math.max(0, endMs - performance.now()),
      randomize: true,
      signal,
      shouldConsumeRetry: ({ error }) => isCounted(error),
    });
  }

  /** Makes a request once it may be made. */
  private async attempt<Answer>(request: ServiceRequest<Answer>, endMs: number): Promise<Answer> {
    const { signal, timeoutMs, read, numTokens = 0, deadlineMs = DEADLINE_MS } = request;
    await this.wait(numTokens, { endMs, deadlineMs, signal });
    this.counts.numRequests++;
    const leftMs = Math.max(1, Math.min(timeoutMs, Math.ceil(endMs - performance.now())));
    try {
      const answer = read(await requestOnce(this.target, request, leftMs));
      this.numRateLimits = 0;
      this.numDown = 0;
      this.down = null;
      return answer;
    } catch (error) {
      if (showsDown(error)) {
        this.down = error;
        if (this.numDown++ === 0) this.options.onDown?.(error);
      }
      throw error;
    }
  }

  /** Waits for a place among the requests that the server allows. @throws EndpointError `DEADLINE` when that is too late */
  private async wait(
    numTokens: number,
    { endMs, deadlineMs, signal }: { endMs: number; deadlineMs: number; signal?: AbortSignal },
  ): Promise<void> {
    // The clock is read once, and a pause of nothing is none: a deadline that passes meanwhile is not the rate limit's.
    const nowMs = performance.now();
    if (nowMs >= endMs) {
      const message = `no answer within the deadline of ${deadlineMs} ms`;
      throw this.down ?? new EndpointError('TIMEOUT', message);
    }
    if (nowMs + this.pace.heldForMs > endMs) throw this.down ?? tooLate(deadlineMs);
    await this.pace.untilFree(signal);
    const waitMs = this.pace.place(numTokens);
    if (waitMs > 0 && performance.now() + waitMs > endMs) throw tooLate(deadlineMs);
    if (waitMs > 0) await sleep(waitMs, undefined, { signal });
  }

  /**
   * Holds all requests back for as long as the server asks for, or longer each time where it does not say.
   *
   * @param numBefore times in a row that they were held back before
   */
  private holdBack(error: EndpointError, numBefore: number): void {
    const { retryAfterMs } = error;
    const { firstRetryMs = 500 } = this.options;
    const longestMs = showsDown(error) ? LONGEST_DOWN_MS : LONGEST_RETRY_MS;
    const growingMs = Math.min(longestMs, firstRetryMs * 2 ** Math.min(numBefore, 16));
    // A server that is down and names no wait, or none at all, is not asked without a pause.
    this.pace.hold(showsDown(error) ? Math.max(retryAfterMs ?? 0, growingMs) : (retryAfterMs ?? growingMs));
  }
}

function showsDown(error: unknown): error is EndpointError {
  return error instanceof EndpointError && error.showsServerDown;
}

function isRateLimit(error: unknown): boolean {
  return error instanceof EndpointError && error.status === 429;
}

function tooLate(deadlineMs: number): EndpointError {
  const message = `the server's rate limit leaves no room within the deadline of ${deadlineMs} ms`;
  return new EndpointError('DEADLINE', message, { status: 429 });
}

function makeAddress(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : null;
  if (address !== null && /^https?:$/.test(address.protocol)) return address;
  throw new EndpointError(
    'INVALID_SETTING',
    `url is "${url}", must be an address like http://127.0.0.1:8000`,
  );
}
