import type { GeneratedTokens, LogprobMode } from '@retrace/chat';
import type { TokenEngine } from '@retrace/endpoints';
import type { PolicyText } from '@retrace/policy';
import type { SamplingParameters } from '@retrace/trajectory';
import { messageOf } from '../environment/guarded-environment.js';
import { actionText } from './action-text.js';
import type { ActRequest, Actor, FinishedAct } from '../turn/actor.js';
import { TurnQueue } from './turn-queue.js';

/** The weights that a server serves for a policy version. */
export interface ServedPolicy {
  readonly policyVersion: number;
  /** Name of the served weights. */
  readonly model: string;
}

interface EndpointActorOptions {
  readonly engine: TokenEngine;
  readonly logprobMode: LogprobMode;
  readonly text: PolicyText;
  readonly maxTokens: number;
  readonly sampling: SamplingParameters;
  readonly stopStrings?: readonly string[];
  /** Texts that end a turn and belong to the action (default none). */
  readonly ownStopStrings?: readonly string[];
  /** The newest policy that the server has; a turn is sampled by the one that was newest when it began. */
  readonly served: () => ServedPolicy;
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
  }

  private async generate(request: ActRequest, context: Int32Array, ended: AbortSignal): Promise<FinishedAct> {
    const { slot, samplingSeed, greedy } = request;
    const { engine, sampling, served } = this.options;
    const startedAt = performance.now();
    const { model, policyVersion } = served();
    try {
      const generated = await engine.generate(
        {
          tokenIds: context,
          model,
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
      this.contexts.set(slot, extend(context, context.length, generated.tokenIds));
      return { slot, turn: this.turnOf(generated, policyVersion, performance.now() - startedAt) };
    } catch (error) {
      return { slot, failure: { of: 'model', reason: messageOf(error) } };
    }
  }

  private turnOf(generated: GeneratedTokens, policyVersion: number, generationMs: number) {
    const { logprobMode, text, stopStrings } = this.options;
    const { tokenIds, logprobs, stopReason } = generated;
    const reason = stopReason === 'stopToken' ? 'stop' : stopReason;
    return {
      action: actionText(text.tokenizer, { tokenIds, stopReason: reason }, stopStrings),
      tokenIds,
      logprobs,
      rawLogprobs: logprobMode === 'raw' ? logprobs : null,
      entropies: null,
      policyVersions: versionsOf(generated, policyVersion),
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
function versionsOf({ tokenIds, versions }: GeneratedTokens, asked: number): Int32Array {
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
