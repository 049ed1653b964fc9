import type { GeneratedTokens, GenerationRequest, LogprobMode } from '@retrace/chat';
import type { PolicyText } from '@retrace/policy';
import type { SamplingParameters } from '@retrace/trajectory';
import { describeThrown } from '../environment/guarded-environment.js';
import { actionText } from './action-text.js';
import type { ActRequest, Actor, FinishedAct } from '../turn/actor.js';
import { TurnQueue } from './turn-queue.js';

/** The weights that a server serves for a policy version. */
export interface ServedPolicy {
  readonly policyVersion: number;
  /** Name of the served weights. */
  readonly model: string;
}

/** A turn that a server sampled. */
export interface ServedTurn {
  readonly generated: GeneratedTokens;
  /** The server's newest version when the turn began. */
  readonly policyVersion: number;
  /** Of which distribution the server's logprobs are. */
  readonly logprobMode: LogprobMode;
}

/** Samples turns on one server, or on several among which it divides episodes. */
export interface TurnSampler {
  /**
   * Samples a turn by the newest policy that its server has.
   *
   * @param slot of the episode, which stays on a server as long as it can
   * @throws EndpointError; the signal's reason once it aborts
   */
  sample(slot: number, request: Omit<GenerationRequest, 'model'>, ended: AbortSignal): Promise<ServedTurn>;
  /** Forgets the server of a slot whose episode has ended. */
  release(slot: number): void;
}

interface EndpointActorOptions {
  readonly sampler: TurnSampler;
  readonly text: PolicyText;
  readonly maxTokens: number;
  readonly sampling: SamplingParameters;
  readonly stopStrings?: readonly string[];
  /** Texts that end a turn and belong to the action (default none). */
  readonly ownStopStrings?: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * A policy on a server. Each request is sent at once, as token ids, so what was sent is what is stored; `step` waits for the first answer.
 * A turn that the server does not give ends its episode with the reason.
 */
export class EndpointActor implements Actor {
  readonly isRemote = true;
  readonly sampling: SamplingParameters;
  readonly maxTokens: number;
  /** Tokens of each slot's context. */
  private readonly contexts = new Map<number, Int32Array>();
  private readonly turns: TurnQueue;
  private readonly stopStrings: readonly string[];

  constructor(private readonly options: EndpointActorOptions) {
    this.stopStrings = [...(options.stopStrings ?? []), ...(options.ownStopStrings ?? [])];
    this.turns = new TurnQueue(options.signal);
    this.sampling = options.sampling;
    this.maxTokens = options.maxTokens;
  }

  request(request: ActRequest): void {
    const { slot, prompt } = request;
    const context = extend(this.contexts.get(slot), prompt.keptPrefixTokens, prompt.tokenIds);
    this.turns.add(slot, (ended) => this.generate(request, context, ended));
  }

  get numPending(): number {
    return this.turns.numPending;
  }

  step(): Promise<readonly FinishedAct[]> {
    return this.turns.next();
  }

  release(slot: number): void {
    this.turns.release(slot);
    this.contexts.delete(slot);
    this.options.sampler.release(slot);
  }

  private async generate(request: ActRequest, context: Int32Array, ended: AbortSignal): Promise<FinishedAct> {
    const { slot, samplingSeed, greedy } = request;
    const { sampler, sampling } = this.options;
    const startedAt = performance.now();
    try {
      const served = await sampler.sample(
        slot,
        {
          tokenIds: context,
          temperature: sampling.temperature,
          topK: sampling.topK,
          topP: sampling.topP,
          greedy: greedy || sampling.greedy,
          maxNewTokens: sampling.maxNewTokens,
          // One-token actions need no stop token: the first token is the whole action.
          stopTokenIds: sampling.maxNewTokens > 1 ? this.options.text.stopTokenIds : [],
          stopStrings: this.stopStrings,
          seed: samplingSeed,
        },
        ended,
      );
      this.contexts.set(slot, extend(context, context.length, served.generated.tokenIds));
      return { slot, turn: this.turnOf(served, performance.now() - startedAt) };
    } catch (error) {
      return { slot, failure: { of: 'model', reason: describeThrown(error) } };
    }
  }

  private turnOf({ generated, policyVersion, logprobMode }: ServedTurn, generationMs: number) {
    const { text, stopStrings } = this.options;
    const { tokenIds, logprobs, stopReason } = generated;
    const reason = stopReason === 'stopToken' ? 'stop' : stopReason;
    return {
      action: actionText(text.tokenizer, { tokenIds, stopReason: reason }, stopStrings),
      tokenIds,
      logprobs,
      rawLogprobs: logprobMode === 'raw' ? logprobs : null,
      entropies: null,
      policyVersions: listVersions(generated, policyVersion),
      // Without temperature, top-k or top-p both distributions are the same.
      logprobMode:
        logprobMode === 'raw' && !isPlain(this.sampling) ? ('raw' as const) : ('processed' as const),
      generationMs,
    };
  }
}

/** The context cut to a prefix, and then extended. */
function extend(context: Int32Array | undefined, numKept: number, tokenIds: Int32Array): Int32Array {
  const extended = new Int32Array(numKept + tokenIds.length);
  // A part of a short array is a copy: it moves the array out of V8's heap first.
  if (context !== undefined) extended.set(context.length === numKept ? context : context.slice(0, numKept));
  extended.set(tokenIds, numKept);
  return extended;
}

/** Whether tokens are drawn from the model's own distribution. */
function isPlain({ temperature, topK, topP }: SamplingParameters): boolean {
  return temperature === 1 && topK === 0 && topP === 1;
}

/** The version of each token: as the server says it, or else the one that was asked for. −1 where the sampling weights belong to no run. */
function listVersions({ tokenIds, versions }: GeneratedTokens, asked: number): Int32Array {
  const columns = new Int32Array(tokenIds.length).fill(asked);
  if (asked === -1) return columns;
  for (const { version, start, end } of versions ?? []) {
    columns.fill(policyVersionIn(version), start, end);
  }
  return columns;
}

/** Names the weights of a policy version on a server. */
export function servedName(runId: string, policyVersion: number): string {
  return `retrace-${runId}-${policyVersion}`;
}

/** Returns −1 for weights that no collector named. */
function policyVersionIn(name: string): number {
  const match = /^retrace-.*-(\d+)$/.exec(name);
  return match === null ? -1 : Number(match[1]);
}
