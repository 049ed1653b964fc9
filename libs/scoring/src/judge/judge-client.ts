import type { JudgeAnswer, JudgeRequest } from '@retrace/rewards';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import pRetry, { AbortError } from 'p-retry';
import { setTimeout as sleep } from 'node:timers/promises';
import { CircuitBreaker } from './circuit-breaker.js';
import type { VerdictSource } from './verdict-archive.js';
import {
  answerOf,
  firstOn,
  MalformedAnswer,
  promptHash,
  readVerdict,
  requestBody,
  type JudgeVerdict,
} from './verdict.js';

export interface JudgeClientOptions {
  /** Verdicts kept for the same question (default 10,000). */
  readonly cacheSize?: number;
  /** Searched for verdicts on the same question before a judge is asked; default: only this client's own verdicts. */
  readonly archive?: VerdictSource;
  /** API keys by the names that recipes call them by (`apiKeyVariable`); default: none, so judges that need one are not asked. */
  readonly apiKeys?: Readonly<Record<string, string | undefined>>;
  /** First pause before asking again; doubles each time, up to 30 s (default 500). */
  readonly firstRetryMs?: number;
  /** After this many questions in a row without an answer an endpoint counts as down, and is not asked for a while (default 8). */
  readonly maxFailuresInARow?: number;
  /** How long an endpoint that is down is not asked; then one question tries it (default 30,000). */
  readonly downPauseMs?: number;
}

export interface JudgeUsage {
  /** HTTP requests, with those that were made again. */
  numRequests: number;
  numRetries: number;
  /** Answered from earlier questions: of this client, in the log or in another run. */
  numReused: number;
  numVerdicts: number;
  numRefused: number;
  /** Questions left without a verdict: judge down, request refused, or answers of another form. */
  numUnanswered: number;
  promptTokens: number;
  completionTokens: number;
  /** By the prices of the recipe, in its currency. */
  cost: number;
}

/** A judge's answer, and the verdict behind it where it is new to the episode. */
export interface AskedJudge {
  readonly answer: JudgeAnswer;
  /** Has no tokens where the verdict was given for another episode, which paid for it. */
  readonly newVerdict: JudgeVerdict | null;
}

interface FoundVerdict {
  readonly verdict: JudgeVerdict;
  /** False where the verdict came from the archive. */
  readonly isNew: boolean;
}

/** The service refused this request with an HTTP status. */
class JudgeHttpError extends Error {
  constructor(
    readonly status: number,
    readonly retryAfterMs: number,
    detail: string,
  ) {
    super(`HTTP ${status}${detail === '' ? '' : `: ${detail}`}`);
  }
}

const LONGEST_RETRY_MS = 30_000;

/**
 * Asks OpenAI-compatible chat endpoints for verdicts. A question is asked once, each service has a limit of concurrent requests, and
 * temporary failures (no connection, time-out, 408, 429, 5xx, an answer of another form) are retried. An endpoint that is down is
 * asked one question after each pause until it answers. Never rejects: a question without a verdict is answered with the reason.
 */
export class JudgeClient {
  readonly usage: JudgeUsage = {
    numRequests: 0,
    numRetries: 0,
    numReused: 0,
    numVerdicts: 0,
    numRefused: 0,
    numUnanswered: 0,
    promptTokens: 0,
    completionTokens: 0,
    cost: 0,
  };
  private readonly cache: LRUCache<string, Promise<FoundVerdict>>;
  private readonly limits = new Map<string, ReturnType<typeof pLimit>>();
  private readonly archive: VerdictSource | null;
  private readonly apiKeys: Readonly<Record<string, string | undefined>>;
  private readonly firstRetryMs: number;
  private readonly breakers = new Map<string, CircuitBreaker>();
  private readonly maxFailuresInARow: number;
  private readonly downPauseMs: number;

  constructor(options: JudgeClientOptions = {}) {
    this.cache = new LRUCache({ max: options.cacheSize ?? 10_000 });
    this.archive = options.archive ?? null;
    this.apiKeys = options.apiKeys ?? {};
    this.firstRetryMs = options.firstRetryMs ?? 500;
    this.maxFailuresInARow = options.maxFailuresInARow ?? 8;
    this.downPauseMs = options.downPauseMs ?? 30_000;
  }

  /** @param logged verdicts on the same episode, in log order; a judge is asked only without one on the question */
  async ask(
    request: JudgeRequest,
    logged: readonly JudgeVerdict[],
    { onlyKnown = false }: { readonly onlyKnown?: boolean } = {},
  ): Promise<AskedJudge> {
    const hash = promptHash(request);
    const known = firstOn(hash, logged);
    if (known !== undefined) {
      this.usage.numReused++;
      return { answer: answerOf(known), newVerdict: null };
    }
    if (onlyKnown) {
      return { answer: { kind: 'none', reason: 'judge: no verdict in the log' }, newVerdict: null };
    }
    const cached = this.cache.get(hash);
    const asking = cached ?? this.findOrAsk(hash, request);
    if (cached === undefined) this.cache.set(hash, asking);
    try {
      const { verdict, isNew } = await asking;
      const isPaidFor = cached !== undefined || !isNew;
      if (isPaidFor) this.usage.numReused++;
      const newVerdict = isPaidFor ? { ...verdict, promptTokens: 0, completionTokens: 0 } : verdict;
      return { answer: answerOf(verdict), newVerdict };
    } catch (error) {
      this.cache.delete(hash);
      this.usage.numUnanswered++;
      return { answer: { kind: 'none', reason: `judge: ${reasonOf(error)}` }, newVerdict: null };
    }
  }

  private async findOrAsk(hash: string, request: JudgeRequest): Promise<FoundVerdict> {
    const archived = (await this.archive?.find(hash)) ?? null;
    if (archived !== null) return { verdict: archived, isNew: false };
    return { verdict: await this.askService(request), isNew: true };
  }

  private askService(request: JudgeRequest): Promise<JudgeVerdict> {
    const { endpoint, concurrency, maxRetries } = request.service;
    const key = `${endpoint} ${concurrency}`;
    const limit = this.limits.get(key) ?? pLimit(concurrency);
    this.limits.set(key, limit);
    return limit(async () => {
      const authorization = this.authorization(request);
      const breaker = this.breakerOf(endpoint);
      if (!breaker.admit()) {
        throw new Error(`not asked, after ${breaker.failuresInARow} questions in a row without an answer`);
      }
      try {
        const verdict = await pRetry(() => this.requestOnce(request, authorization), {
          retries: maxRetries,
          minTimeout: this.firstRetryMs,
          maxTimeout: LONGEST_RETRY_MS,
          randomize: true,
          onFailedAttempt: async ({ error, retriesLeft }) => {
            if (retriesLeft === 0) return;
            this.usage.numRetries++;
            if (error instanceof JudgeHttpError) await sleep(error.retryAfterMs);
          },
        });
        breaker.answered();
        if (verdict.score === null) this.usage.numRefused++;
        else this.usage.numVerdicts++;
        return verdict;
      } catch (error) {
        if (showsServiceUp(error)) breaker.answered();
        else breaker.failed();
        throw error;
      }
    });
  }

  private breakerOf(endpoint: string): CircuitBreaker {
    const known = this.breakers.get(endpoint);
    if (known !== undefined) return known;
    const breaker = new CircuitBreaker({
      maxFailuresInARow: this.maxFailuresInARow,
      pauseMs: this.downPauseMs,
    });
    this.breakers.set(endpoint, breaker);
    return breaker;
  }

  private async requestOnce(
    request: JudgeRequest,
    authorization: Readonly<Record<string, string>>,
  ): Promise<JudgeVerdict> {
    const { endpoint, timeoutMs, promptPrice, completionPrice } = request.service;
    this.usage.numRequests++;
    let response: Response;
    let body: string;
    try {
      response = await fetch(`${endpoint.replace(/\/$/, '')}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorization },
        body: JSON.stringify(requestBody(request)),
        signal: AbortSignal.timeout(timeoutMs),
      });
      body = await response.text();
    } catch (cause) {
      // p-retry would stop at a TypeError that it does not know as a network error.
      throw new Error(reasonOf(cause), { cause });
    }
    if (!response.ok) throw httpError(response, body);
    const answer = parseJson(body);
    const usage = (answer as { usage?: Record<string, number> } | null)?.usage;
    const promptTokens = usage?.prompt_tokens ?? 0;
    const completionTokens = usage?.completion_tokens ?? 0;
    this.usage.promptTokens += promptTokens;
    this.usage.completionTokens += completionTokens;
    this.usage.cost += (promptTokens * promptPrice + completionTokens * completionPrice) / 1e6;
    return readVerdict(answer, request);
  }

  private authorization({ service: { apiKeyVariable } }: JudgeRequest): Record<string, string> {
    if (apiKeyVariable === '') return {};
    const key = this.apiKeys[apiKeyVariable];
    if (key === undefined || key === '') {
      throw new Error(`apiKeyVariable is ${apiKeyVariable}, which is not set in the environment`);
    }
    return { authorization: `Bearer ${key}` };
  }
}

function httpError(response: Response, body: string): Error {
  const { status } = response;
  const seconds = Number(response.headers.get('retry-after') ?? 0);
  const retryAfterMs = Number.isFinite(seconds) ? Math.min(seconds * 1000, LONGEST_RETRY_MS) : 0;
  const error = new JudgeHttpError(status, retryAfterMs, body.slice(0, 200).trim());
  return status === 408 || status === 429 || status >= 500 ? error : new AbortError(error);
}

/** A service is up if it answers, even if malformed or with a refusal (4xx except 429). */
function showsServiceUp(error: unknown): boolean {
  if (error instanceof MalformedAnswer) return true;
  return error instanceof JudgeHttpError && error.status >= 400 && error.status < 500 && error.status !== 429;
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new MalformedAnswer(`the answer is not JSON: ${body.slice(0, 80)}`);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && error.message === 'fetch failed' ? cause.message : error.message;
}
