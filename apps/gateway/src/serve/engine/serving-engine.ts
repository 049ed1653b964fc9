import { setImmediate as nextTick } from 'node:timers/promises';
import { evaluateLogprobs, Generator, type FinishedTurn, type TurnColumns } from '@retrace/policy';
import type { ServeConfig } from '../serve-config.js';
import type { PolicySupply } from '../supply/policy-supply.js';
import type { AnswerRequest } from './answer-request.js';
import { AnswerStream } from './answer-stream.js';
import { SlotBook } from './slot-book.js';

/** Refuses answers because as many as allowed wait already. */
export class QueueFullError extends Error {}

/** Refuses a request for more answers than can ever run and wait at one time. */
export class TooManyAnswersError extends Error {}

interface LiveAnswer {
  readonly request: AnswerRequest;
  readonly answer: number;
  readonly stream: AnswerStream;
  readonly signal: AbortSignal;
  /** Tokens that were passed on. */
  numPassed: number;
}

/** Prompts whose own tokens are to be scored. */
interface WaitingPrompts {
  readonly prompts: readonly Int32Array[];
  readonly signal: AbortSignal;
  readonly resolve: (logprobs: readonly Float32Array[]) => void;
  readonly reject: (reason: unknown) => void;
}

type EngineOptions = Pick<ServeConfig, 'concurrency' | 'maxQueued' | 'logprobsMode'> & {
  readonly maxTokens: number;
};

/**
 * Generates answers by continuous batching: between two steps new answers join, ended or cancelled ones leave, and newer weights are
 * taken up.
 */
export class ServingEngine {
  numSteps = 0;
  numSampled = 0;
  numSwaps = 0;
  private readonly generator: Generator;
  private readonly slots: SlotBook;
  private readonly waiting: LiveAnswer[] = [];
  private readonly live = new Map<number, LiveAnswer>();
  private readonly unscored: WaitingPrompts[] = [];
  private readonly running: Promise<void>;
  private isClosed = false;
  private wake: () => void = () => undefined;

  constructor(
    private readonly supply: PolicySupply,
    private readonly options: EngineOptions,
    private readonly warn: (message: string) => void,
  ) {
    const { concurrency, maxTokens } = options;
    this.generator = new Generator(supply.model, {
      maxSlots: concurrency,
      maxTokens,
      maxNewTokens: maxTokens,
      decode: (tokenIds) => supply.text.tokenizer.decode(tokenIds),
      likeliestAfterTemperature: options.logprobsMode === 'processed_logprobs',
    });
    this.generator.setPolicyVersion(supply.policyVersion ?? 0);
    this.slots = new SlotBook(concurrency);
    supply.onNewer(() => {
      this.wake();
    });
    this.running = this.run();
  }

  get numRunning(): number {
    return this.live.size;
  }

  get numWaiting(): number {
    return this.waiting.length;
  }

  /**
   * Asks for answers; they end early when the signal aborts.
   *
   * @throws TooManyAnswersError, QueueFullError; the signal's reason where it has aborted already
   */
  generate(requests: readonly AnswerRequest[], signal: AbortSignal): AnswerStream {
    signal.throwIfAborted();
    const most = this.options.concurrency + this.options.maxQueued;
    if (requests.length > most) {
      throw new TooManyAnswersError(
        `The request asks for ${requests.length} answers; this server takes at most ${most} at one time (--concurrency and --max-queued)`,
      );
    }
    const room = this.options.maxQueued + this.slots.numFree - this.waiting.length;
    if (requests.length > room) {
      throw new QueueFullError(
        `${this.live.size} answers are being generated and ${this.waiting.length} wait; at most ${this.options.maxQueued} may wait`,
      );
    }
    const stream = new AnswerStream(requests.length);
    requests.forEach((request, answer) => {
      this.waiting.push({ request, answer, stream, signal, numPassed: 0 });
    });
    signal.addEventListener('abort', () => {
      stream.fail(signal.reason as Error);
      this.wake();
    });
    this.wake();
    return stream;
  }

  /**
   * Computes log π of each token of some prompts given those before it, at temperature 1, between two steps; 0 for the first of each.
   *
   * @throws PolicyError for tokens that the model does not have; the signal's reason once it aborts
   */
  score(prompts: readonly Int32Array[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    return new Promise((resolve, reject) => {
      this.unscored.push({ prompts, signal, resolve, reject });
      this.wake();
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.wake();
    await this.running;
    const ended = new Error('the server stops');
    for (const { stream } of [...this.live.values(), ...this.waiting]) stream.fail(ended);
    for (const { reject } of this.unscored) reject(ended);
    this.generator.dispose();
  }

  private async run(): Promise<void> {
    while (!this.isClosed) {
      const woken = new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      await this.takeNewerWeights();
      this.dropCancelled();
      this.admit();
      const hasScored = await this.scoreNext();
      if (this.live.size > 0) await this.step();
      else if (!hasScored) await woken;
      // Requests are read and answers written between steps, which compute synchronously.
      await nextTick();
    }
  }

  private async takeNewerWeights(): Promise<void> {
    if (!(await this.supply.refresh())) return;
    this.generator.setPolicyVersion(this.supply.policyVersion ?? 0);
    this.numSwaps++;
  }

  private dropCancelled(): void {
    for (const [slot, { signal }] of this.live) if (signal.aborted) this.release(slot);
    for (let n = this.waiting.length - 1; n >= 0; n--)
      if (this.waiting[n].signal.aborted) this.waiting.splice(n, 1);
  }

  private admit(): void {
    while (this.waiting.length > 0) {
      const slot = this.slots.take(this.waiting[0].request.tokenIds);
      if (slot === null) return;
      const next = this.waiting.shift() as LiveAnswer;
      try {
        this.generator.add({ ...next.request, slot, keptPrefixTokens: 0 });
        this.live.set(slot, next);
      } catch (error) {
        next.stream.fail(error as Error);
        this.slots.giveBack(slot, new Int32Array(0));
      }
    }
  }

  /** False where no prompts wait. */
  private async scoreNext(): Promise<boolean> {
    const next = this.unscored.shift();
    if (next === undefined) return false;
    try {
      next.signal.throwIfAborted();
      next.resolve(await selectLogprobs(this.supply.model, next.prompts));
    } catch (error) {
      next.reject(error);
    }
    return true;
  }

  private async step(): Promise<void> {
    let finished: readonly FinishedTurn[];
    try {
      finished = await this.generator.step();
    } catch (error) {
      this.warn(`a step failed: ${(error as Error).message}`);
      for (const [slot, { stream }] of this.live) {
        stream.fail(error as Error);
        this.release(slot);
      }
      return;
    }
    this.numSteps++;
    for (const turn of finished) {
      this.pass(turn.slot, turn, turn.stopReason);
      this.release(turn.slot, turn.tokenIds);
    }
    for (const slot of this.live.keys()) {
      const sampled = this.generator.sampledBy(slot);
      if (sampled) this.pass(slot, sampled, null);
    }
  }

  private pass(slot: number, columns: TurnColumns, stopReason: FinishedTurn['stopReason'] | null): void {
    const live = this.live.get(slot) as LiveAnswer;
    const added = tokensFrom(columns, live.numPassed);
    if (added.tokenIds.length === 0) return;
    live.numPassed = columns.tokenIds.length;
    this.numSampled += added.tokenIds.length;
    live.stream.push({ answer: live.answer, columns: added, stopReason });
  }

  private release(slot: number, sampled: Int32Array = new Int32Array(0)): void {
    const { request } = this.live.get(slot) as LiveAnswer;
    this.generator.release(slot);
    this.live.delete(slot);
    this.slots.giveBack(slot, Int32Array.of(...request.tokenIds, ...sampled));
  }
}

async function selectLogprobs(
  model: PolicySupply['model'],
  prompts: readonly Int32Array[],
): Promise<readonly Float32Array[]> {
  const offsets = [0];
  for (const { length } of prompts) offsets.push(offsets[offsets.length - 1] + length);
  const { logprobs } = await evaluateLogprobs(
    model,
    {
      tokenIds: Int32Array.from(prompts.flatMap((prompt) => [...prompt])),
      sequenceOffsets: Int32Array.from(offsets),
    },
    { temperature: 1, maxTokensPerMicroBatch: Math.max(...prompts.map(({ length }) => length)) },
  );
  return prompts.map((_, n) => logprobs.subarray(offsets[n], offsets[n + 1]));
}

/** Copies the tokens from `start` on. */
function tokensFrom(columns: TurnColumns, start: number): TurnColumns {
  return {
    tokenIds: columns.tokenIds.slice(start),
    logprobs: columns.logprobs.slice(start),
    rawLogprobs: columns.rawLogprobs.slice(start),
    entropies: columns.entropies.slice(start),
    policyVersions: columns.policyVersions.slice(start),
    likeliest: columns.likeliest?.slice(start) ?? null,
  };
}
