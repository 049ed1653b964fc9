import type { FinishedTurn, Generator, PolicyText } from '@retrace/policy';
import type { SamplingParameters } from '@retrace/trajectory';
import { actionText } from './action-text.js';
import type { ActRequest, Actor, ActedTurn } from '../turn/actor.js';

interface PolicyActorOptions {
  readonly generator: Generator;
  readonly text: PolicyText;
  readonly maxTokens: number;
  readonly sampling: SamplingParameters;
  /** Texts that end a turn (default none); the action is the text before the first of them. */
  readonly stopStrings?: readonly string[];
  /** Texts that end a turn and belong to the action (default none). */
  readonly ownStopStrings?: readonly string[];
}

/** The learned policy, which batches pending requests into the generator's steps. */
export class PolicyActor implements Actor {
  readonly isRemote = false;
  readonly sampling: SamplingParameters;
  readonly maxTokens: number;
  private readonly stopTokenIds: readonly number[];
  private readonly requestedAt = new Map<number, number>();

  constructor(private readonly options: PolicyActorOptions) {
    this.sampling = options.sampling;
    this.maxTokens = options.maxTokens;
    // One-token actions need no stop token: the first token is the whole action.
    this.stopTokenIds = options.sampling.maxNewTokens > 1 ? options.text.stopTokenIds : [];
  }

  request({ slot, prompt, samplingSeed, greedy }: ActRequest): void {
    this.requestedAt.set(slot, performance.now());
    this.options.generator.add({
      slot,
      keptPrefixTokens: prompt.keptPrefixTokens,
      tokenIds: prompt.tokenIds,
      temperature: this.sampling.temperature,
      topK: this.sampling.topK,
      topP: this.sampling.topP,
      greedy: greedy || this.sampling.greedy,
      maxNewTokens: this.sampling.maxNewTokens,
      stopTokenIds: this.stopTokenIds,
      stopStrings: [...(this.options.stopStrings ?? []), ...(this.options.ownStopStrings ?? [])],
      samplingSeed,
    });
  }

  get numPending(): number {
    return this.requestedAt.size;
  }

  async step(): Promise<readonly ActedTurn[]> {
    const finished = await this.options.generator.step();
    return finished.map((turn) => this.finish(turn));
  }

  release(slot: number): void {
    this.options.generator.release(slot);
  }

  private finish(turn: FinishedTurn): ActedTurn {
    const requestedAt = this.requestedAt.get(turn.slot) ?? performance.now();
    this.requestedAt.delete(turn.slot);
    return {
      slot: turn.slot,
      turn: {
        action: actionText(this.options.text.tokenizer, turn, this.options.stopStrings),
        tokenIds: turn.tokenIds,
        logprobs: turn.logprobs,
        rawLogprobs: turn.rawLogprobs,
        entropies: turn.entropies,
        policyVersions: turn.policyVersions,
        logprobMode: 'processed',
        generationMs: performance.now() - requestedAt,
      },
    };
  }
}
