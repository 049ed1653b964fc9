import { deriveSeed, type Environment, type Observation, type StepResult } from '@retrace/environments';
import type { PromptFormat } from '@retrace/policy';
import type { AnyEvent, EndReason, SamplingParameters } from '@retrace/trajectory';
import type { Actor } from '../actors/actor.js';
import {
  EpisodeRecorder,
  type EndedEpisode,
  type Prompt,
  type RecorderContext,
  type Turn,
} from './episode-recorder.js';
import type { PlannedEpisode } from '../round/round-plan.js';

export interface SlotContext {
  readonly actor: Actor;
  readonly prompts: PromptFormat;
  readonly window: 'observation' | 'history';
  readonly maxNewTokens: number;
  readonly recorder: RecorderContext;
  /** Receives each event as it happens, in order. */
  readonly emit: (event: AnyEvent) => void;
  readonly ended: (summary: EndedEpisode) => void;
  readonly onEnvironmentMs: (ms: number) => void;
}

/** One of the concurrent episodes, with its environment, context and recorder. Reused from episode to episode. */
export class EpisodeSlot {
  private plan!: PlannedEpisode;
  private recorder!: EpisodeRecorder;
  private prompt!: Prompt;
  private contextTokens = 0;
  /** Whether the agent ended its last turn itself. */
  private turnIsClosed = false;
  private numTurns = 0;
  private active = false;

  constructor(
    readonly slot: number,
    private readonly environment: Environment,
    private readonly context: SlotContext,
  ) {}

  get isActive(): boolean {
    return this.active;
  }

  /** Starts an episode and asks the actor for its first action. */
  start(plan: PlannedEpisode): void | Promise<void> {
    this.plan = plan;
    this.recorder = new EpisodeRecorder(this.context.recorder, plan);
    this.contextTokens = 0;
    this.numTurns = 0;
    this.active = true;
    this.context.emit(this.recorder.started());
    const { task, seed } = plan.group.sampled;
    const observation = this.environment.reset({ task, seed, member: plan.groupMember });
    if (observation instanceof Promise)
      return observation.then((value) => {
        this.ask(this.promptFor(value));
      });
    this.ask(this.promptFor(observation));
  }

  /** Takes the actor's turn into the environment; records the step; ends the episode or asks for the next action. */
  act(turn: Turn): void | Promise<void> {
    const started = performance.now();
    const result = this.environment.step(turn.action);
    if (result instanceof Promise) {
      return result.then((value) => {
        this.afterStep(turn, value, performance.now() - started);
      });
    }
    this.afterStep(turn, result, performance.now() - started);
  }

  private afterStep(turn: Turn, result: StepResult, environmentMs: number): void {
    this.context.onEnvironmentMs(environmentMs);
    this.context.emit(this.recorder.step(this.prompt, turn, result, this.sampling, environmentMs));
    this.contextTokens = this.prompt.keptPrefixTokens + this.prompt.tokenIds.length + turn.tokenIds.length;
    this.turnIsClosed = this.context.prompts.stopTokenIds.includes(turn.tokenIds[turn.tokenIds.length - 1]);
    const next = this.promptFor(result.observation);
    if (result.terminated) this.end('terminated', '', result, next);
    else if (result.truncated) this.end('truncated', 'step limit of the environment', result, next);
    else if (!this.fits(next)) this.end('truncated', 'context full', result, next);
    else this.ask(next);
  }

  private get sampling(): SamplingParameters | null {
    const { sampling } = this.context.actor;
    return sampling && this.plan.isGreedyBaseline ? { ...sampling, greedy: true } : sampling;
  }

  private ask(prompt: Prompt): void {
    this.prompt = prompt;
    this.context.actor.request({
      slot: this.slot,
      environment: this.environment,
      observation: prompt.observation,
      prompt,
      // A seed for each turn, since with a fresh context all turns sample at the same position.
      samplingSeed: deriveSeed(this.plan.samplingSeed, this.numTurns++),
      greedy: this.plan.isGreedyBaseline,
    });
  }

  private end(endReason: EndReason, endDetail: string, result: StepResult, prompt: Prompt): void {
    // A full context has no room for the final observation, which is then read as a separate sequence.
    const final = this.fits(prompt) ? prompt : { ...prompt, keptPrefixTokens: 0 };
    const { event, summary } = this.recorder.ended({ endReason, endDetail, final, success: result.success });
    this.context.emit(event);
    this.active = false;
    this.context.actor.release(this.slot);
    this.context.ended(summary);
  }

  /** Prompt of a turn: a fresh context, or this observation appended to the context so far. */
  private promptFor(observation: Observation): Prompt {
    const { prompts, window } = this.context;
    const keptPrefixTokens = window === 'history' ? this.contextTokens : 0;
    return {
      observation,
      tokenIds:
        keptPrefixTokens === 0
          ? prompts.opening(observation.text)
          : prompts.continuation(observation.text, this.turnIsClosed),
      keptPrefixTokens,
    };
  }

  private fits(prompt: Prompt): boolean {
    return (
      prompt.keptPrefixTokens + prompt.tokenIds.length + this.context.maxNewTokens <=
      this.context.actor.maxTokens
    );
  }
}
