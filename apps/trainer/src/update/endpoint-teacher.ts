import { setMaxListeners } from 'node:events';
import type { Recipe, TeacherEndpointRecipe } from '@retrace/config';
import {
  describeTokenizer,
  describeVllmModel,
  EndpointError,
  ServiceClient,
  SglangEngine,
  VllmEngine,
  type EngineOptions,
  type TokenEngine,
} from '@retrace/endpoints';
import { encodePlain, type Tokenizer } from '@retrace/policy';
import type { TokenBatch } from '@retrace/trajectory';
import { TrainerError } from '../trainer-error.js';
import type { AskedTokens, Teacher } from './teacher.js';
import { gather } from './token-columns.js';

interface EndpointTeacherOptions {
  readonly endpoint: TeacherEndpointRecipe;
  /** Of the policy that learns. */
  readonly tokenizer: Tokenizer;
  /** Longest context of the policy that learns, tokens. */
  readonly maxPositions: number;
  /** The trainer's environment, which holds the API key. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly onNotice: (message: string) => void;
  readonly signal: AbortSignal;
}

const CONCURRENCY = 16;
const TIMEOUT_MS = 120_000;
const MAX_RETRIES = 3;
/** A server that counts as down is asked so soon again. */
const DOWN_PAUSE_MS = 2_000;
/** Digits, scripts, white space and brackets: what tokenizers differ in. */
const TEST_TEXT = 'Retrace 0123456789: naïve café, 東京 🙂 Привет\n\t  if (x == y) { return "z"; }';

/** The server that teaches, where the recipe names one. @throws TrainerError as `EndpointTeacher.open` */
export async function openEndpointTeacher(
  { distillation }: Pick<Recipe, 'distillation'>,
  options: Omit<EndpointTeacherOptions, 'endpoint'>,
): Promise<EndpointTeacher | null> {
  const endpoint = distillation?.teacher.endpoint;
  return endpoint ? EndpointTeacher.open({ ...options, endpoint }) : null;
}

/** A server that scores the tokens of prompts for the recipe's teacher. It waits, until its deadline, for a server that is down. */
export class EndpointTeacher implements Teacher {
  private readonly asking: EngineOptions;
  private readonly service: ServiceClient;
  private readonly engine: TokenEngine;
  /** Whether the server was down since it was checked: another one may answer in its place. */
  private wasDown = false;

  private constructor(private readonly options: EndpointTeacherOptions) {
    const { endpoint, onNotice, signal } = options;
    const { url, kind, timeoutMs = TIMEOUT_MS, maxRetries = MAX_RETRIES, deadlineMs } = endpoint;
    this.asking = { timeoutMs, maxRetries, deadlineMs, headers: authorization(endpoint, options.variables) };
    this.service = new ServiceClient({
      url,
      concurrency: endpoint.concurrency ?? CONCURRENCY,
      isPatient: true,
      downPauseMs: DOWN_PAUSE_MS,
      onDown: ({ message }) => {
        this.wasDown = true;
        onNotice(`the update waits for the teacher at ${url}: ${message}`);
      },
    });
    // Each request under way listens to it.
    setMaxListeners(0, signal);
    const Engine = kind === 'vllm' ? VllmEngine : SglangEngine;
    this.engine = new Engine(this.service, this.asking);
  }

  /**
   * @throws TrainerError `TEACHER_REFUSED` for a server that refuses, has another tokenizer than the policy, or reads shorter contexts;
   *   `TEACHER_UNAVAILABLE` for one that does not answer until the deadline
   */
  static async open(options: EndpointTeacherOptions): Promise<EndpointTeacher> {
    const teacher = new EndpointTeacher(options);
    try {
      await teacher.check();
      return teacher;
    } catch (error) {
      await teacher.close();
      throw asTeacherError(error, options.endpoint.url);
    }
  }

  /** @throws TrainerError as `open`, and `TEACHER_REFUSED` where the server has no logprob of a token */
  async read({ batch, mask }: AskedTokens): Promise<Float32Array> {
    const { tokenIds, sequenceOffsets } = batch;
    const { url } = this.options.endpoint;
    const ofAll = new Float32Array(tokenIds.length);
    const scores = Array.from({ length: sequenceOffsets.length - 1 }, async (_, s) => {
      const [from, end] = [sequenceOffsets[s], endOfAsked(mask, sequenceOffsets, s)];
      if (end === from) return;
      const scored = await this.score(tokenIds.subarray(from, end));
      for (let n = from; n < end; n++) {
        if (mask[n] === 0) continue;
        if (!Number.isFinite(scored[n - from])) throw refused(url, withoutLogprob(batch, n, from));
        ofAll[n] = scored[n - from];
      }
    });
    try {
      await Promise.all(scores);
      if (this.wasDown) await this.check();
    } catch (error) {
      throw asTeacherError(error, url);
    } finally {
      // The others end before the next call.
      await Promise.allSettled(scores);
    }
    return gather(ofAll, batch.actionTokens);
  }

  close(): Promise<void> {
    return this.service.close();
  }

  /** Requires that the server can teach. */
  private async check(): Promise<void> {
    const { service, asking, options } = this;
    this.wasDown = false;
    if (options.endpoint.kind === 'vllm') await requireContexts(service, asking, options);
    await requireTokenizer(service, asking, options);
  }

  private score(tokenIds: Int32Array): Promise<Float32Array> {
    const { endpoint, signal } = this.options;
    return this.engine.score({ tokenIds: Array.from(tokenIds), model: endpoint.model ?? '' }, signal);
  }
}

/** End of the part of a sequence that has the tokens which are asked about; its start where there is none. */
function endOfAsked(mask: Uint8Array, sequenceOffsets: Int32Array, s: number): number {
  let end = sequenceOffsets[s + 1];
  while (end > sequenceOffsets[s] && mask[end - 1] === 0) end--;
  return end;
}

function withoutLogprob({ tokenIds }: TokenBatch, n: number, from: number): string {
  return `it has no logprob of token ${tokenIds[n]}, at position ${n - from} of its context; a teacher must give each token a probability`;
}

async function requireContexts(
  service: ServiceClient,
  asking: EngineOptions,
  { endpoint, maxPositions, signal }: EndpointTeacherOptions,
): Promise<void> {
  const { maxTokens } = await describeVllmModel(service, asking, { model: endpoint.model ?? '', signal });
  // A prompt leaves room for one token that the server samples.
  if (maxTokens > maxPositions) return;
  const rule = `those of the policy have ${maxPositions}, and a server wants room for one more; give it longer ones, or lower maxPositions`;
  throw refused(endpoint.url, `it reads contexts of ${maxTokens} tokens; ${rule}`);
}

async function requireTokenizer(
  service: ServiceClient,
  asking: EngineOptions,
  { endpoint: { url, model = '' }, tokenizer, signal, onNotice }: EndpointTeacherOptions,
): Promise<void> {
  const told = await describeTokenizer(service, asking, { model, text: TEST_TEXT, signal });
  if (told.hash === null && told.tokenIds === null) {
    onNotice(
      `the teacher at ${url} does not tell its tokens; it must have the tokenizer of the policy, ${tokenizer.hash.slice(0, 12)}`,
    );
    return;
  }
  const isSame =
    told.tokenIds === null
      ? told.hash === tokenizer.hash
      : isEqual(told.tokenIds, encodePlain(tokenizer, TEST_TEXT));
  if (!isSame) throw refused(url, 'it has another tokenizer; a teacher must read the tokens of the policy');
}

function isEqual(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}

/** @throws TrainerError `TEACHER_REFUSED` where the variable is not set */
function authorization(
  { url, apiKeyVariable }: TeacherEndpointRecipe,
  variables: EndpointTeacherOptions['variables'],
): Record<string, string> {
  if (apiKeyVariable === undefined) return {};
  const key = variables[apiKeyVariable] ?? '';
  if (key !== '') return { authorization: `Bearer ${key}` };
  throw refused(
    url,
    `apiKeyVariable is ${apiKeyVariable}, which is not set in the environment of the trainer`,
  );
}

/** As an error of the trainer; one that the next start would only repeat is final. */
function asTeacherError(error: unknown, url: string): unknown {
  if (!(error instanceof EndpointError)) return error;
  const isFinal = error.code === 'UNSUPPORTED' || (error.code === 'HTTP_STATUS' && !error.isTemporary);
  if (isFinal) return refused(url, error.message, error);
  const message = `distillation.teacher.endpoint: no answer of ${url} in time (${error.message})`;
  return new TrainerError('TEACHER_UNAVAILABLE', message, { cause: error });
}

function refused(url: string, why: string, cause?: unknown): TrainerError {
  return new TrainerError('TEACHER_REFUSED', `distillation.teacher.endpoint ${url}: ${why}`, { cause });
}
