import type { JudgeAnswer, JudgeRequest } from '../../judge.js';
import { EndpointError, ServiceClient } from '@retrace/endpoints';
import { LRUCache } from 'lru-cache';
import type { VerdictSource } from './verdict-archive.js';
import {
  toJudgeAnswer,
  firstOn,
  promptHash,
  readVerdict,
  requestBody,
  readJudgeTokens,
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

/**
 * Asks OpenAI-compatible chat endpoints for verdicts. A question is asked once, each service has a limit of concurrent requests, and
 * temporary failures (no connection, time-out, 408, 429, 5xx, an answer of another form) are retried. An endpoint that is down is
 * asked one question after each pause until it answers. Never rejects: a question without a verdict is answered with the reason.
 */
export class JudgeClient {
  private readonly answers = {
    numReused: 0,
    numVerdicts: 0,
    numRefused: 0,
    numUnanswered: 0,
    promptTokens: 0,
    completionTokens: 0,
    cost: 0,
  };
  private readonly cache: LRUCache<string, Promise<FoundVerdict>>;
  /** By address and limit of concurrent requests. */
  private readonly services = new Map<string, ServiceClient>();
  private readonly archive: VerdictSource | null;
  private readonly apiKeys: Readonly<Record<string, string | undefined>>;

  constructor(private readonly options: JudgeClientOptions = {}) {
    this.cache = new LRUCache({ max: options.cacheSize ?? 10_000 });
    this.archive = options.archive ?? null;
    this.apiKeys = options.apiKeys ?? {};
  }

  get usage(): JudgeUsage {
    const counts = [...this.services.values()].map((service) => service.counts);
    const sum = (field: 'numRequests' | 'numRetries') =>
      counts.reduce((total, count) => total + count[field], 0);
    return { numRequests: sum('numRequests'), numRetries: sum('numRetries'), ...this.answers };
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
      this.answers.numReused++;
      return { answer: toJudgeAnswer(known), newVerdict: null };
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
      if (isPaidFor) this.answers.numReused++;
      const newVerdict = isPaidFor ? { ...verdict, promptTokens: 0, completionTokens: 0 } : verdict;
      return { answer: toJudgeAnswer(verdict), newVerdict };
    } catch (error) {
      this.cache.delete(hash);
      this.answers.numUnanswered++;
      return { answer: { kind: 'none', reason: `judge: ${describeReason(error)}` }, newVerdict: null };
    }
  }

  private async findOrAsk(hash: string, request: JudgeRequest): Promise<FoundVerdict> {
    const archived = (await this.archive?.find(hash)) ?? null;
    if (archived !== null) return { verdict: archived, isNew: false };
    return { verdict: await this.askService(request), isNew: true };
  }

  private async askService(request: JudgeRequest): Promise<JudgeVerdict> {
    const { timeoutMs, maxRetries } = request.service;
    const verdict = await this.serviceOf(request).request({
      path: '/chat/completions',
      headers: this.authorization(request),
      body: requestBody(request),
      timeoutMs,
      maxRetries,
      read: (text) => this.readAnswer(text, request),
    });
    if (verdict.score === null) this.answers.numRefused++;
    else this.answers.numVerdicts++;
    return verdict;
  }

  private serviceOf({ service: { endpoint, concurrency } }: JudgeRequest): ServiceClient {
    const key = `${endpoint} ${concurrency}`;
    const known = this.services.get(key);
    if (known !== undefined) return known;
    const { firstRetryMs, maxFailuresInARow, downPauseMs } = this.options;
    const service = new ServiceClient({
      url: endpoint,
      concurrency,
      firstRetryMs,
      maxFailuresInARow,
      downPauseMs,
    });
    this.services.set(key, service);
    return service;
  }

  /** Reads an answer, and counts its tokens, which a malformed one costs, too. */
  private readAnswer(text: string, request: JudgeRequest): JudgeVerdict {
    const answer = parseJson(text);
    const { promptTokens, completionTokens } = readJudgeTokens(answer);
    const { promptPrice, completionPrice } = request.service;
    this.answers.promptTokens += promptTokens;
    this.answers.completionTokens += completionTokens;
    this.answers.cost += (promptTokens * promptPrice + completionTokens * completionPrice) / 1e6;
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

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new EndpointError('MALFORMED_ANSWER', `the answer is not JSON: ${body.slice(0, 80)}`);
  }
}

function describeReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
