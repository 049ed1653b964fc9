import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { PolicyError } from '@retrace/policy';
import { TrainerError } from '../../trainer-error.js';

/** Where an engine listens. */
export interface EngineAddress {
  /** Without a path. */
  readonly url: string;
  readonly token: string;
}

interface ConnectionOptions {
  /** Aborts with the reason when the engine's process ends, so that nobody waits for an answer; absent for one that others started. */
  readonly ended?: AbortSignal;
  /** How long a call is repeated that finds nobody or loses its answer (default 30 s). */
  readonly patienceMs?: number;
  /** Longest time for an answer (default 30 min). */
  readonly answerTimeoutMs?: number;
}

/** A body, and its type. */
type Body = { readonly json: unknown } | { readonly arrow: Uint8Array };

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

const DEFAULT_PATIENCE_MS = 30_000;
const DEFAULT_ANSWER_TIMEOUT_MS = 30 * 60_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/** Errors of the engine after which its instance can't be used any more, or is another one. */
const LOST = new Set(['WRONG_INSTANCE', 'WRONG_CALL', 'NOT_OPEN', 'NO_GRAPH', 'RANK_LOST', 'OUT_OF_MEMORY']);

/**
 * The calls of one trainer to one engine, one at a time.
 *
 * Calls that change something are numbered from 1, the opening. One whose answer does not come is sent again with its number, and the engine
 * then gives the answer that it keeps, so nothing is applied twice however often a connection breaks.
 */
export class EngineConnection {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  private instance: string | null = null;
  private numCalls = 0;

  constructor(
    private readonly address: EngineAddress,
    private readonly options: ConnectionOptions = {},
  ) {}

  /** Opens a new instance; whatever the engine had before is dropped there. */
  async open<T extends { readonly instance: string }>(body: object): Promise<T> {
    this.instance = null;
    this.numCalls = 0;
    const opened = await this.change<T>('open', body);
    this.instance = opened.instance;
    return opened;
  }

  /** A call that changes nothing. */
  async read<T>(path: string): Promise<T> {
    return parse<T>(await this.call('GET', path, null, {}), path);
  }

  /** A call that may be made any number of times. */
  async repeatable<T>(path: string, body: object): Promise<T> {
    return parse<T>(await this.call('POST', path, { json: body }, {}), path);
  }

  /** A numbered call. */
  async change<T>(path: string, body: object | Uint8Array): Promise<T> {
    const sent = body instanceof Uint8Array ? { arrow: body } : { json: body };
    return parse<T>(await this.call('POST', path, sent, this.nextCall()), path);
  }

  /** A call whose answer is an Arrow stream. */
  async tokens(path: string, body: Uint8Array, options: { readonly isNumbered: boolean }): Promise<Buffer> {
    return this.call('POST', path, { arrow: body }, options.isNumbered ? this.nextCall() : {});
  }

  close(): void {
    this.agent.destroy();
  }

  private nextCall(): Readonly<Record<string, string>> {
    this.numCalls += 1;
    return { 'Retrace-Call': `${this.numCalls}` };
  }

  /**
   * @throws TrainerError `ENGINE_LOST`, `ENGINE_REFUSED`, `ENGINE_UNAVAILABLE`
   * @throws PolicyError `NOT_FINITE`, `CHECKPOINT_CORRUPT`
   */
  private async call(
    method: 'GET' | 'POST',
    path: string,
    body: Body | null,
    numbered: Readonly<Record<string, string>>,
  ): Promise<Buffer> {
    const headers = { ...numbered, ...(this.instance === null ? {} : { 'Retrace-Instance': this.instance }) };
    const deadline = performance.now() + (this.options.patienceMs ?? DEFAULT_PATIENCE_MS);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return requireSuccess(await this.send(method, path, body, headers), path);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        const hasEnded = this.options.ended?.aborted === true;
        if (hasEnded || performance.now() + pauseMs > deadline) {
          const [called] = path.split('?');
          const what = `the engine at ${this.address.url} gave no answer to ${called} (${error.message})`;
          throw new TrainerError(
            this.instance === null ? 'ENGINE_UNAVAILABLE' : 'ENGINE_LOST',
            hasEnded ? `${what}: ${describeEnding(this.options.ended)}` : what,
            { cause: error },
          );
        }
        await sleep(pauseMs);
      }
    }
  }

  private async send(
    method: 'GET' | 'POST',
    path: string,
    body: Body | null,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    const bytes = body === null ? null : readBytes(body);
    const type =
      body !== null && 'arrow' in body ? 'application/vnd.apache.arrow.stream' : 'application/json';
    const signals = [AbortSignal.timeout(this.options.answerTimeoutMs ?? DEFAULT_ANSWER_TIMEOUT_MS)];
    if (this.options.ended) signals.push(this.options.ended);
    try {
      return await new Promise<Answer>((resolve, reject) => {
        const sent = request(new URL(`/v1/${path}`, this.address.url), {
          method,
          agent: this.agent,
          signal: AbortSignal.any(signals),
          headers: {
            Authorization: `Bearer ${this.address.token}`,
            ...(bytes === null ? {} : { 'Content-Type': type, 'Content-Length': bytes.length }),
            ...headers,
          },
        });
        sent.once('error', reject);
        sent.once('response', (response) => {
          readAll(response).then((read) => resolve({ status: response.statusCode ?? 0, body: read }), reject);
        });
        sent.end(bytes);
      });
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      throw new NoAnswer(code ?? message, { cause });
    }
  }
}

/** How a process ended, as whoever started it tells. */
function describeEnding(ended: AbortSignal | undefined): string {
  const reason: unknown = ended?.reason;
  return reason instanceof Error && reason.name !== 'AbortError' ? reason.message : 'its process has ended';
}

/** The connection broke, or there was none; whether the engine got the call is unknown. */
class NoAnswer extends Error {}

function readBytes(body: Body): Uint8Array {
  return 'arrow' in body ? body.arrow : Buffer.from(JSON.stringify(body.json), 'utf8');
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  if (!response.complete) throw new Error('the answer was cut off');
  return Buffer.concat(pieces);
}

function parse<T>(body: Buffer, path: string): T {
  try {
    return JSON.parse(body.toString('utf8')) as T;
  } catch (cause) {
    throw new TrainerError('ENGINE_LOST', `the engine's answer to ${path} is not JSON`, { cause });
  }
}

function requireSuccess({ status, body }: Answer, path: string): Buffer {
  if (status >= 200 && status < 300) return body;
  const { code, message, field } = readError(body, status);
  if (code === 'NOT_FINITE') throw new PolicyError('NOT_FINITE', message);
  if (code === 'FILE_DAMAGED') throw new PolicyError('CHECKPOINT_CORRUPT', message);
  const sentence = `engine, ${path.split('?')[0]}: ${field === undefined ? '' : `${field}: `}${message}`;
  if (status >= 500 || LOST.has(code)) throw new TrainerError('ENGINE_LOST', `${sentence} (${code})`);
  throw new TrainerError('ENGINE_REFUSED', sentence);
}

interface EngineProblem {
  readonly code: string;
  readonly message: string;
  readonly field?: string;
}

function readError(body: Buffer, status: number): EngineProblem {
  try {
    const { error } = JSON.parse(body.toString('utf8')) as { readonly error?: EngineProblem };
    if (typeof error?.code === 'string' && typeof error.message === 'string') return error;
  } catch {
    // Somebody else answered, such as a proxy.
  }
  return { code: 'INTERNAL', message: `status ${status}: ${body.toString('utf8').slice(0, 200)}` };
}
