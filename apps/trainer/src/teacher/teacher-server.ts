import { tokenServer, type ScoredTokens, type TokenServerKind } from '@retrace/chat';
import type { TeacherEndpointRecipe } from '@retrace/config';
import {
  describeTokenizer,
  describeVllmModel,
  EndpointError,
  openTokenEngine,
  ServiceClient,
  type EngineOptions,
  type TokenEngine,
} from '@retrace/endpoints';
import { encodePlain, type Tokenizer } from '@retrace/policy';
import { sampleTokens, TinkerClient } from '@retrace/tinker';
import { TrainerError } from '../trainer-error.js';

export interface TeacherServerOptions {
  readonly endpoint: TeacherEndpointRecipe;
  /** Of the policy that learns. */
  readonly tokenizer: Tokenizer;
  /** Longest context of the policy that learns, tokens. */
  readonly maxPositions: number;
  /** How many of its likeliest tokens the teacher tells; null: none. */
  readonly topK: number | null;
  /** The trainer's environment, which holds the API key. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly onNotice: (message: string) => void;
  readonly signal: AbortSignal;
}

/** A server that says how likely the tokens of a prompt are for its model. */
export interface TeacherServer {
  /** Time limit of one request with its repetitions. */
  readonly deadlineMs: number;
  /** Requires that the server can teach. @throws TrainerError `TEACHER_REFUSED`; errors of the server's client */
  check(deadlineMs: number): Promise<void>;
  /** How likely each token is given those before it, with the likeliest ones where the recipe wants them. */
  score(tokenIds: readonly number[], signal: AbortSignal): Promise<ScoredTokens>;
  close(): Promise<void>;
}

const CONCURRENCY = 16;
const TIMEOUT_MS = 120_000;
const MAX_RETRIES = 3;
const DEADLINE_MS = 600_000;
/** Pause before a server that counts as down is asked again. */
const DOWN_PAUSE_MS = 2_000;
/** Digits, scripts, white space and brackets: what tokenizers differ in. */
const TEST_TEXT = 'Retrace 0123456789: naïve café, 東京 🙂 Привет\n\t  if (x == y) { return "z"; }';
/** Tokens of the test text that a server is tried with. */
const NUM_TRIED = 8;

/**
 * Opens no connection yet.
 *
 * @param onDown called when the server counts as down
 * @throws TrainerError `TEACHER_REFUSED` where the variable of the API key is not set
 */
export function teacherServer(options: TeacherServerOptions, onDown: () => void): TeacherServer {
  const { kind, url } = options.endpoint;
  const onServerDown = ({ message }: Error) => {
    onDown();
    options.onNotice(`the update waits for the teacher at ${url}: ${message}`);
  };
  return kind === 'tinker'
    ? new TinkerTeacherServer(options, onServerDown)
    : new TokenTeacherServer(kind, options, onServerDown);
}

/** vLLM, SGLang, and what speaks as they do. */
class TokenTeacherServer implements TeacherServer {
  readonly deadlineMs: number;
  private readonly asking: EngineOptions;
  private readonly service: ServiceClient;
  private readonly engine: TokenEngine;

  constructor(
    private readonly kind: TokenServerKind,
    private readonly options: TeacherServerOptions,
    onDown: (error: Error) => void,
  ) {
    const { endpoint } = options;
    this.deadlineMs = endpoint.deadlineMs ?? DEADLINE_MS;
    const key = findApiKey(options);
    this.asking = {
      timeoutMs: endpoint.timeoutMs ?? TIMEOUT_MS,
      maxRetries: endpoint.maxRetries ?? MAX_RETRIES,
      deadlineMs: this.deadlineMs,
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
    };
    this.service = new ServiceClient({
      url: endpoint.url,
      concurrency: endpoint.concurrency ?? CONCURRENCY,
      isPatient: true,
      downPauseMs: DOWN_PAUSE_MS,
      onDown,
    });
    this.engine = openTokenEngine(kind, this.service, this.asking);
  }

  async check(deadlineMs: number): Promise<void> {
    const asking = { ...this.asking, deadlineMs };
    if (tokenServer(this.kind).servesByName) await this.requireContexts(asking);
    await this.requireTokenizer(asking);
    if (this.options.topK !== null) await this.requireLikeliest(this.options.topK, asking);
  }

  score(tokenIds: readonly number[], signal: AbortSignal): Promise<ScoredTokens> {
    return this.engine.score(this.question(tokenIds), signal);
  }

  close(): Promise<void> {
    return this.service.close();
  }

  private question(tokenIds: readonly number[]) {
    const { endpoint, topK } = this.options;
    return { tokenIds, model: endpoint.model ?? '', topK: topK ?? 0 };
  }

  /** Tries some tokens, as no server tells how many likeliest ones it gives. */
  private async requireLikeliest(topK: number, asking: EngineOptions): Promise<void> {
    const { endpoint, tokenizer, signal } = this.options;
    const tried = Array.from(encodePlain(tokenizer, TEST_TEXT).subarray(0, NUM_TRIED));
    try {
      await openTokenEngine(this.kind, this.service, asking).score(this.question(tried), signal);
    } catch (error) {
      const isRefused =
        error instanceof EndpointError && (error.status === 400 || error.code === 'MALFORMED_ANSWER');
      if (!isRefused) throw error;
      const rule = `distillation.topK is ${topK}, and the server does not tell so many likeliest tokens of a prompt`;
      const advice =
        this.kind === 'vllm'
          ? `; start vLLM with --max-logprobs ${topK}, or lower topK; retrace serve tells none`
          : '';
      throw refused(endpoint.url, `${rule} (${error.message})${advice}`, error);
    }
  }

  private async requireContexts(asking: EngineOptions): Promise<void> {
    const { endpoint, maxPositions, signal } = this.options;
    const asked = { model: endpoint.model ?? '', signal };
    const { maxTokens } = await describeVllmModel(this.service, asking, asked);
    // A prompt leaves room for one token that the server samples.
    if (maxTokens > maxPositions) return;
    const rule = `those of the policy have ${maxPositions}, and a server wants room for one more; give it longer ones, or lower maxPositions`;
    throw refused(endpoint.url, `it reads contexts of ${maxTokens} tokens; ${rule}`);
  }

  private async requireTokenizer(asking: EngineOptions): Promise<void> {
    const { endpoint, tokenizer, signal, onNotice } = this.options;
    const { url, model } = endpoint;
    const told = await describeTokenizer(this.service, asking, {
      model: model ?? '',
      text: TEST_TEXT,
      signal,
    });
    if (told.hash === null && told.tokenIds === null) {
      onNotice(tellsNoTokens(url, tokenizer));
      return;
    }
    const isSame =
      told.tokenIds === null
        ? told.hash === tokenizer.hash
        : isEqual(told.tokenIds, encodePlain(tokenizer, TEST_TEXT));
    if (isSame) return;
    const own = `that of the policy, ${tokenizer.hash.slice(0, 12)}`;
    throw refused(url, `it has another tokenizer than ${own}; a teacher must read the tokens of the policy`);
  }
}

/** A server of the Tinker API: a base model, or a policy that was saved for samplers there. */
class TinkerTeacherServer implements TeacherServer {
  readonly deadlineMs: number;
  private readonly client: TinkerClient;

  constructor(
    private readonly options: TeacherServerOptions,
    onDown: (error: Error) => void,
  ) {
    const { endpoint } = options;
    this.deadlineMs = endpoint.deadlineMs ?? DEADLINE_MS;
    const apiKey = findApiKey(options);
    this.client = new TinkerClient({
      url: endpoint.url,
      concurrency: endpoint.concurrency ?? CONCURRENCY,
      patienceMs: this.deadlineMs,
      onDown,
      ...(apiKey !== null && { apiKey }),
    });
  }

  /** Tries some tokens of the policy, as no call of the API describes a model's tokenizer or contexts. */
  async check(deadlineMs: number): Promise<void> {
    const { endpoint, tokenizer, signal, onNotice } = this.options;
    await this.client.call('healthz', undefined, { method: 'GET', deadlineMs, signal });
    const tried = Array.from(encodePlain(tokenizer, TEST_TEXT).subarray(0, NUM_TRIED));
    const { logprobs } = await this.score(tried, signal);
    if (!logprobs.subarray(1).every(Number.isFinite))
      throw refused(endpoint.url, `it has no logprobs of the prompt's tokens for ${endpoint.model ?? ''}`);
    onNotice(tellsNoTokens(endpoint.url, tokenizer));
  }

  async score(tokenIds: readonly number[], signal: AbortSignal): Promise<ScoredTokens> {
    const { promptLogprobs } = await sampleTokens(
      this.client,
      {
        ...{ path: this.options.endpoint.model ?? '', tokenIds, maxTokens: 1, promptLogprobs: true },
        ...{ temperature: 1, topK: -1, topP: 1, seed: 0, stop: [] },
      },
      signal,
    );
    const logprobs = promptLogprobs ?? new Float32Array(tokenIds.length).fill(Number.NaN);
    return { logprobs, likeliest: null };
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

function tellsNoTokens(url: string, tokenizer: Tokenizer): string {
  return `the teacher at ${url} does not tell its tokens; it must have the tokenizer of the policy, ${tokenizer.hash.slice(0, 12)}`;
}

function isEqual(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}

/** Null for a server that wants none. @throws TrainerError `TEACHER_REFUSED` where the variable is not set */
function findApiKey({ endpoint: { url, apiKeyVariable }, variables }: TeacherServerOptions): string | null {
  if (!apiKeyVariable) return null;
  const key = variables[apiKeyVariable] ?? '';
  if (key !== '') return key;
  throw refused(
    url,
    `apiKeyVariable is ${apiKeyVariable}, which is not set in the environment of the trainer`,
  );
}

export function refused(url: string, why: string, cause?: unknown): TrainerError {
  return new TrainerError('TEACHER_REFUSED', `distillation.teacher.endpoint ${url}: ${why}`, { cause });
}
