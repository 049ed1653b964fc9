import { setTimeout as sleep } from 'node:timers/promises';
import { EndpointError, ServiceClient } from '@retrace/endpoints';
import { requireText, type TinkerAnswer } from './answer.js';
import { TinkerError } from './tinker-error.js';

export interface TinkerClientOptions {
  /** Address below which `/api/v1/…` lies: `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Sent as `X-API-Key`; without it, none is. */
  readonly apiKey?: string;
  /** Most requests at one time (default 4). */
  readonly concurrency?: number;
  /** How long an answer is waited for from a server that nobody reaches (default 60,000). */
  readonly patienceMs?: number;
  /** Longest time for a result that the server says it works on (default 30 min). */
  readonly resultTimeoutMs?: number;
  /** Called when the server counts as down; it is asked again until the patience ends. */
  readonly onDown?: (error: EndpointError) => void;
}

export interface CallOptions {
  /** Default POST. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Whether the call may be made again where its answer is lost (default true). */
  readonly isRepeatable?: boolean;
  /** Time for all attempts (default the patience of the client). */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

/** A call that the server has taken, and works on. */
export interface TakenCall {
  readonly requestId: string;
  /** Its first answer, before the result. */
  readonly answer: TinkerAnswer;
}

const PATIENCE_MS = 60_000;
const RESULT_TIMEOUT_MS = 30 * 60_000;
const CALL_TIMEOUT_MS = 60_000;
const CALL_RETRIES = 5;
/** Servers hold the question for a result open for up to five minutes; a shorter one is asked again. */
const POLL_MS = 45_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
const RETRIED_MS = 200;
const HEALTH_MS = 5_000;
const MAX_ANSWER_BYTES = 512 * 2 ** 20;

/**
 * The calls of the Tinker API (https://tinker-docs.thinkingmachines.ai) in JSON, as its SDK made them up to 0.24 and SkyRL's server answers them.
 *
 * Most calls are answered at once with the id of a request, whose result is asked for until it is there. Asking is free of effects, and the
 * server keeps results, so a connection that breaks loses none.
 */
export class TinkerClient {
  private readonly service: ServiceClient;
  private readonly headers: Readonly<Record<string, string>>;

  /** @throws EndpointError `INVALID_SETTING` when the address is not of HTTP */
  constructor(private readonly options: TinkerClientOptions) {
    this.service = new ServiceClient({
      url: options.url,
      concurrency: options.concurrency ?? 4,
      firstRetryMs: RETRIED_MS,
      // A server that is down is asked again until the deadline.
      isPatient: true,
      maxFailuresInARow: Number.POSITIVE_INFINITY,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      onDown: options.onDown,
    });
    this.headers = options.apiKey === undefined ? {} : { 'x-api-key': options.apiKey };
  }

  get url(): string {
    return this.options.url.replace(/\/+$/, '');
  }

  /** Headers that every request carries. */
  get authorization(): Readonly<Record<string, string>> {
    return this.headers;
  }

  /** A call that is answered at once. @throws TinkerError */
  async call(
    path: string,
    body?: object,
    { method = 'POST', isRepeatable = true, deadlineMs, signal }: CallOptions = {},
  ): Promise<TinkerAnswer> {
    try {
      return await this.service.request({
        method,
        path: `/api/v1/${path}`,
        body,
        signal,
        headers: this.headers,
        timeoutMs: CALL_TIMEOUT_MS,
        deadlineMs: deadlineMs ?? this.options.patienceMs ?? PATIENCE_MS,
        maxRetries: isRepeatable ? CALL_RETRIES : 0,
        waits: isRepeatable,
        read: parse,
      });
    } catch (error) {
      throw tinkerError(error, path);
    }
  }

  /** Makes a call with a later result, and returns once the server has taken it. @throws TinkerError */
  async begin(path: string, body: object, options?: CallOptions): Promise<TakenCall> {
    const answer = await this.call(path, body, options);
    return { requestId: requireText(answer, 'request_id'), answer };
  }

  /**
   * Waits for the result of a call that the server has taken.
   *
   * @param path of the call, for messages
   * @throws TinkerError
   */
  async result(
    { requestId }: Pick<TakenCall, 'requestId'>,
    path: string,
    signal?: AbortSignal,
  ): Promise<TinkerAnswer> {
    const { patienceMs = PATIENCE_MS, resultTimeoutMs = RESULT_TIMEOUT_MS } = this.options;
    const began = performance.now();
    /** Since when nobody reaches the server; a question that is held open is silent for long. */
    let goneSinceMs: number | null = null;
    for (let pauseMs = FIRST_PAUSE_MS; ;) {
      try {
        const answer = await this.poll(requestId, signal);
        if (answer.type !== 'try_again') return requireSuccess(answer, path);
        goneSinceMs = null;
      } catch (error) {
        if (!(error instanceof EndpointError && error.isTemporary)) throw resultError(error, path);
        if (error.status === 408 || (error.code === 'TIMEOUT' && (await this.isThere()))) {
          goneSinceMs = null;
          pauseMs = FIRST_PAUSE_MS;
        } else {
          goneSinceMs ??= performance.now();
          if (performance.now() - goneSinceMs > patienceMs) throw tinkerError(error, path);
        }
      }
      if (performance.now() - began > resultTimeoutMs)
        throw new TinkerError('NO_ANSWER', `${path}: no result within ${resultTimeoutMs} ms`);
      await sleep(pauseMs, undefined, { signal });
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  }

  /** A call with its result. @throws TinkerError */
  async run(path: string, body: object, options?: CallOptions): Promise<TinkerAnswer> {
    return this.result(await this.begin(path, body, options), path, options?.signal);
  }

  /** Ends every connection. */
  close(): Promise<void> {
    return this.service.close();
  }

  /** Whether the server answers at all; a question for a result is held open while it works. */
  private async isThere(): Promise<boolean> {
    const options = { method: 'GET', isRepeatable: false, deadlineMs: HEALTH_MS } as const;
    return this.call('healthz', undefined, options).then(
      () => true,
      () => false,
    );
  }

  private poll(requestId: string, signal?: AbortSignal): Promise<TinkerAnswer> {
    return this.service.request({
      path: '/api/v1/retrieve_future',
      body: { request_id: requestId, allow_metadata_only: false },
      signal,
      headers: this.headers,
      timeoutMs: POLL_MS,
      maxRetries: 0,
      waits: false,
      read: parse,
    });
  }
}

function parse(text: string): TinkerAnswer {
  if (text === '') return {};
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (cause) {
    throw new EndpointError('MALFORMED_ANSWER', `the answer is not JSON: ${text.slice(0, 80)}`, { cause });
  }
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return answer as TinkerAnswer;
  throw new EndpointError('MALFORMED_ANSWER', `the answer is no JSON object: ${text.slice(0, 80)}`);
}

/** A result whose status is 200 may say that the call failed. */
function requireSuccess(answer: TinkerAnswer, path: string): TinkerAnswer {
  if (typeof answer.error !== 'string') return answer;
  const code = answer.category === 'user' ? 'REFUSED' : 'FAILED';
  throw new TinkerError(isOfLostModel(answer.error) ? 'MODEL_LOST' : code, `${path}: ${answer.error}`);
}

/** SkyRL answers a failure of its engine as it does a request that makes no sense: after it had taken the call. */
function resultError(error: unknown, path: string): unknown {
  if (!(error instanceof EndpointError)) return error;
  const told = tinkerError(error, path);
  if (!(told instanceof TinkerError && told.code === 'REFUSED')) return told;
  // The file of a checkpoint that it has listed.
  const isOfCheckpoint = /checkpoint not found/i.test(told.message);
  return new TinkerError(isOfCheckpoint ? 'CHECKPOINT_UNKNOWN' : 'FAILED', told.message, { cause: error });
}

/** 404 is of a model, session or request that the server does not know, 410 of one that it had. */
const GONE: ReadonlySet<number | null> = new Set([404, 410]);

function tinkerError(error: unknown, path: string): unknown {
  if (!(error instanceof EndpointError)) return error;
  const { status } = error;
  const message = `${path}: ${error.message}`;
  const refused = status !== null && status >= 400 && status < 500 && status !== 408 && status !== 429;
  if (!refused) {
    const code = error.code === 'MALFORMED_ANSWER' ? 'MALFORMED_ANSWER' : 'NO_ANSWER';
    return new TinkerError(code, message, { cause: error });
  }
  const isLost = GONE.has(status) || isOfLostModel(error.message);
  const isOfCheckpoint = /checkpoint/i.test(error.message) && status === 404;
  return new TinkerError(isOfCheckpoint ? 'CHECKPOINT_UNKNOWN' : isLost ? 'MODEL_LOST' : 'REFUSED', message, {
    cause: error,
  });
}

/** As SkyRL's server says it of a model that was there before its restart. */
function isOfLostModel(message: string): boolean {
  return /\bnot loaded\b/.test(message);
}
