import { setImmediate as nextTick } from 'node:timers/promises';
import { Generator, type FinishedTurn, type TurnColumns } from '@retrace/policy';
import type { ServeConfig } from '../serve-config.js';
import type { PolicySupply } from '../supply/policy-supply.js';
import type { AnswerRequest } from './answer-request.js';
import { AnswerStream } from './answer-stream.js';
import { SlotBook } from './slot-book.js';

/** Refuses answers because as many as allowed wait already. */
export class QueueFullError extends Error {}

interface LiveAnswer {
  readonly request: AnswerRequest;
  readonly answer: number;
  readonly stream: AnswerStream;
  readonly signal: AbortSignal;
  /** Tokens that were passed on. */
  numPassed: number;
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
   * @throws QueueFullError
   */
  generate(requests: readonly AnswerRequest[], signal: AbortSignal): AnswerStream {
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

  async close(): Promise<void> {
    this.isClosed = true;
    this.wake();
    await this.running;
    const ended = new Error('the server stops');
    for (const { stream } of [...this.live.values(), ...this.waiting]) stream.fail(ended);
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
      if (this.live.size === 0) await woken;
      else await this.step();
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
