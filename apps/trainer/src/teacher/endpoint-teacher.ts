import { setMaxListeners } from 'node:events';
import { tokenServer } from '@retrace/chat';
import type { Recipe, TeacherEndpointRecipe } from '@retrace/config';
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
import { TrainerError } from '../trainer-error.js';
import type { AskedTokens, Teacher } from './teacher.js';

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
const DEADLINE_MS = 600_000;
/** Longest time that the start waits for a server that is down; the first update waits longer. */
const START_MS = 5_000;
/** Pause before a server that counts as down is asked again. */
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

/** A server that scores the tokens of prompts for the recipe's teacher. A request waits, until its deadline, for a server that is down. */
export class EndpointTeacher implements Teacher {
  private readonly asking: EngineOptions;
  private readonly service: ServiceClient;
  private readonly engine: TokenEngine;
  /** Whether the server was checked and has not been down since; after that, another server may answer at its address. */
  private isChecked = false;

  private constructor(private readonly options: EndpointTeacherOptions) {
    const { endpoint, onNotice } = options;
    const { url, kind } = endpoint;
    this.asking = {
      timeoutMs: endpoint.timeoutMs ?? TIMEOUT_MS,
      maxRetries: endpoint.maxRetries ?? MAX_RETRIES,
      deadlineMs: endpoint.deadlineMs ?? DEADLINE_MS,
      headers: authorization(endpoint, options.variables),
    };
    this.service = new ServiceClient({
      url,
      concurrency: endpoint.concurrency ?? CONCURRENCY,
      isPatient: true,
      downPauseMs: DOWN_PAUSE_MS,
      onDown: ({ message }) => {
        this.isChecked = false;
        onNotice(`the update waits for the teacher at ${url}: ${message}`);
      },
    });
    this.engine = openTokenEngine(kind, this.service, this.asking);
  }

  /**
   * Checks the server where it answers soon; otherwise the first update waits for it.
   *
   * @throws TrainerError `TEACHER_REFUSED` for a server that refuses, has another tokenizer than the policy, or reads shorter contexts
   */
  static async open(options: EndpointTeacherOptions): Promise<EndpointTeacher> {
    const teacher = new EndpointTeacher(options);
    const { deadlineMs = DEADLINE_MS } = teacher.asking;
    try {
      await teacher.check(Math.min(START_MS, deadlineMs));
    } catch (error) {
      const reason = asTeacherError(error, options.endpoint.url);
      const isDown = reason instanceof TrainerError && reason.code === 'TEACHER_UNAVAILABLE';
      if (!isDown && !options.signal.aborted) {
        await teacher.close();
        throw reason;
      }
    }
    return teacher;
  }

  /**
   * @throws TrainerError as `open`, `TEACHER_REFUSED` where the server has no logprob of a token, `TEACHER_UNAVAILABLE` where it does not answer until
   *   the deadline; the signal's reason once it aborts
   */
  async read({ batch, mask: ofActions }: AskedTokens): Promise<Float32Array> {
    const { tokenIds, sequenceOffsets, actionTokens } = batch;
    const mask = new Uint8Array(tokenIds.length);
    actionTokens.forEach((n, a) => (mask[n] = ofActions[a]));
    const ofAll = new Float32Array(tokenIds.length);
    // The first failure ends the others, also those that wait for their turn.
    const failed = new AbortController();
    const signal = AbortSignal.any([this.options.signal, failed.signal]);
    // Each request under way adds a listener.
    setMaxListeners(0, signal);
    const scores = Array.from({ length: sequenceOffsets.length - 1 }, (_, s) =>
      this.readSequence({ batch, mask }, s, { into: ofAll, signal }),
    );
    try {
      await Promise.all(scores);
      if (!this.isChecked) await this.check();
    } catch (error) {
      failed.abort(error);
      await Promise.allSettled(scores);
      throw asTeacherError(error, this.options.endpoint.url);
    }
    return Float32Array.from(actionTokens, (n) => ofAll[n]);
  }

  close(): Promise<void> {
    return this.service.close();
  }

  /** Requires that the server can teach. */
  private async check(deadlineMs = this.asking.deadlineMs): Promise<void> {
    const { service, options } = this;
    const asking = { ...this.asking, deadlineMs };
    this.isChecked = true;
    try {
      if (tokenServer(options.endpoint.kind).servesByName) await requireContexts(service, asking, options);
      await requireTokenizer(service, asking, options);
    } catch (error) {
      this.isChecked = false;
      throw error;
    }
  }

  /** Reads the tokens of sequence `s` that are asked about. */
  private async readSequence(
    { batch: { tokenIds, sequenceOffsets }, mask }: SequencesAsked,
    s: number,
    { into, signal }: { readonly into: Float32Array; readonly signal: AbortSignal },
  ): Promise<void> {
    const [from, end] = [sequenceOffsets[s], endOfAsked(mask, sequenceOffsets, s)];
    if (end === from) return;
    const { url, model } = this.options.endpoint;
    const context = Array.from(tokenIds.subarray(from, end));
    const scored = await this.engine.score({ tokenIds: context, model: model ?? '' }, signal);
    for (let n = from; n < end; n++) {
      if (mask[n] === 0) continue;
      if (!Number.isFinite(scored[n - from])) throw refused(url, withoutLogprob(context, n - from));
      into[n] = scored[n - from];
    }
  }
}

/** Tokens of sequences, with a mask [N] of those that are asked about. */
type SequencesAsked = Pick<AskedTokens, 'batch' | 'mask'>;

/** End of the part of a sequence that has the tokens which are asked about; its start where there is none. */
function endOfAsked(mask: Uint8Array, sequenceOffsets: Int32Array, s: number): number {
  let end = sequenceOffsets[s + 1];
  while (end > sequenceOffsets[s] && mask[end - 1] === 0) end--;
  return end;
}

function withoutLogprob(context: readonly number[], position: number): string {
  return `it has no logprob of token ${context[position]}, at position ${position} of its context; a teacher must give each token a probability`;
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
  { endpoint: { url, model }, tokenizer, signal, onNotice }: EndpointTeacherOptions,
): Promise<void> {
  const told = await describeTokenizer(service, asking, { model: model ?? '', text: TEST_TEXT, signal });
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
  if (isSame) return;
  const own = `that of the policy, ${tokenizer.hash.slice(0, 12)}`;
  throw refused(url, `it has another tokenizer than ${own}; a teacher must read the tokens of the policy`);
}

function isEqual(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}

/** @throws TrainerError `TEACHER_REFUSED` where the variable is not set */
function authorization(
  { url, apiKeyVariable }: TeacherEndpointRecipe,
  variables: EndpointTeacherOptions['variables'],
): Record<string, string> {
  if (!apiKeyVariable) return {};
  const key = variables[apiKeyVariable] ?? '';
  if (key !== '') return { authorization: `Bearer ${key}` };
  throw refused(
    url,
    `apiKeyVariable is ${apiKeyVariable}, which is not set in the environment of the trainer`,
  );
}

/** Converts to an error of the trainer, which is final where the next start would fail in the same way. */
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
