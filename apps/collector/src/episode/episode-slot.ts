import { deriveSeed, type EnvironmentSpec, type Observation, type StepResult } from '@retrace/environments';
import type { EpisodeLimits } from '@retrace/config';
import type { PromptFormat } from '@retrace/policy';
import type { AnyEvent, EndReason, SamplingParameters } from '@retrace/trajectory';
import type { Actor, FinishedAct } from '../actors/actor.js';
import { EpisodeContext } from './episode-context.js';
import {
  EpisodeRecorder,
  type EndedEpisode,
  type Prompt,
  type RecorderContext,
  type Turn,
} from './episode-recorder.js';
import { GuardedEnvironment, messageOf, type Answer } from './guarded-environment.js';
import type { PlannedEpisode } from '../round/round-plan.js';

export interface SlotContext {
  readonly actor: Actor;
  readonly prompts: PromptFormat;
  readonly window: 'observation' | 'history';
  readonly maxNewTokens: number;
  readonly limits: EpisodeLimits;
  /** Most characters of all texts of one answer of the environment. */
  readonly maxCharacters?: number;
  readonly recorder: RecorderContext;
  /** Receives each event as it happens, in order. */
  readonly emit: (event: AnyEvent) => void;
  readonly ended: (summary: EndedEpisode) => void;
  readonly onEnvironmentMs: (ms: number) => void;
}

interface EpisodeEnding {
  readonly endReason: EndReason;
  readonly endDetail: string;
  readonly final: Prompt;
  readonly success: boolean | null;
  /** Why the environment failed; null when it did not. */
  readonly failure: string | null;
}

/** One of the concurrent episodes, with its environment, context and recorder. Reused from episode to episode. */
export class EpisodeSlot {
  private readonly environment: GuardedEnvironment;
  private plan!: PlannedEpisode;
  private recorder!: EpisodeRecorder;
  private episode!: EpisodeContext;
  private prompt!: Prompt;
  private numTurns = 0;
  private active = false;
  private closed = false;

  constructor(
    readonly slot: number,
    spec: Pick<EnvironmentSpec, 'create'>,
    private readonly context: SlotContext,
  ) {
    this.environment = new GuardedEnvironment(spec, {
      ...context.limits,
      maxCharacters: context.maxCharacters,
    });
  }

  /** Whether it can't take an episode: one is under way, or the slot is closed. */
  get isActive(): boolean {
    return this.active || this.closed;
  }

  /** Starts an episode and asks the actor for its first action, unless the episode ends before that. */
  start(plan: PlannedEpisode): void | Promise<void> {
    const { actor, limits, recorder, emit } = this.context;
    this.plan = plan;
    this.recorder = new EpisodeRecorder(recorder, plan);
    this.episode = new EpisodeContext({ ...this.context, ...limits, maxTokens: actor.maxTokens });
    this.numTurns = 0;
    this.active = true;
    emit(this.recorder.started());
    const { failure, sampled } = plan.group;
    if (failure !== null) {
      this.fail(failure);
      return;
    }
    const { task, seed } = sampled;
    return whenKnown(this.environment.reset({ task, seed, member: plan.groupMember }), (answer) => {
      if (!this.closed) this.afterReset(answer);
    });
  }

  /** Takes the actor's turn into the environment; records the step; ends the episode or asks for the next action. */
  act(act: FinishedAct): void | Promise<void> {
    if ('failure' in act) {
      this.fail(act.failure);
      return;
    }
    const { turn } = act;
    const started = performance.now();
    return whenKnown(this.environment.step(turn.action), (answer) => {
      if (!this.closed) this.afterStep(turn, answer, performance.now() - started);
    });
  }

  /** Gives the environment up without waiting for it; what it still answers is not recorded. */
  close(): void {
    this.closed = true;
    this.environment.close();
  }

  private afterReset(answer: Answer<Observation>): void {
    if (!answer.ok) {
      this.fail(answer.failure);
      return;
    }
    const first = this.promptFor(answer.value);
    if (!first.ok) {
      this.fail(first.failure);
      return;
    }
    const prompt = first.value;
    if (this.episode.fits(prompt)) this.ask(prompt);
    else {
      const endDetail = `task refused: its first prompt has ${prompt.tokenIds.length} tokens, and the context has room for ${this.episode.maxPromptTokens} before an action`;
      const final = { ...prompt, tokenIds: new Int32Array(0) };
      this.end({ endReason: 'truncated', endDetail, final, success: null, failure: null });
    }
  }

  private afterStep(turn: Turn, answer: Answer<StepResult>, environmentMs: number): void {
    this.context.onEnvironmentMs(environmentMs);
    if (!answer.ok) {
      this.fail(answer.failure);
      return;
    }
    const result = answer.value;
    this.context.emit(this.recorder.step(this.prompt, turn, result, this.sampling, environmentMs));
    this.episode.append(this.prompt, turn);
    const prompt = this.promptFor(result.observation);
    if (!prompt.ok) {
      this.fail(prompt.failure);
      return;
    }
    const next = prompt.value;
    const ending = { final: this.episode.finalPrompt(next), success: result.success, failure: null };
    if (result.terminated) this.end({ ...ending, endReason: 'terminated', endDetail: '' });
    else if (result.truncated) {
      this.end({ ...ending, endReason: 'truncated', endDetail: 'step limit of the environment' });
    } else if (this.episode.fits(next)) this.ask(next);
    else this.end({ ...ending, endReason: 'truncated', endDetail: 'context full' });
  }

  /** The prompt that shows an observation, or why its text can't be tokenized. */
  private promptFor(observation: Observation): Answer<Prompt> {
    try {
      return { ok: true, value: this.episode.promptFor(observation) };
    } catch (error) {
      return { ok: false, failure: `its observation can't be tokenized: ${messageOf(error)}` };
    }
  }

  private get sampling(): SamplingParameters | null {
    const { sampling } = this.context.actor;
    return sampling && this.plan.isGreedyBaseline ? { ...sampling, greedy: true } : sampling;
  }

  private ask(prompt: Prompt): void {
    this.prompt = prompt;
    this.context.actor.request({
      slot: this.slot,
      environment: this.environment.instance,
      observation: prompt.observation,
      prompt,
      // A seed for each turn, since with a fresh context all turns sample at the same position.
      samplingSeed: deriveSeed(this.plan.samplingSeed, this.numTurns++),
      greedy: this.plan.isGreedyBaseline,
    });
  }

  /** Ends the episode with the steps that it has. What the environment is in now is not known, so it is made again for the next one. */
  private fail(failure: string): void {
    this.environment.close();
    const final = { observation: NO_OBSERVATION, tokenIds: new Int32Array(0), keptPrefixTokens: 0 };
    const endDetail = `environment failed: ${failure}`;
    this.end({ endReason: 'truncated', endDetail, final, success: null, failure });
  }

  private end({ failure, ...ending }: EpisodeEnding): void {
    const isUnknown = ending.endReason === 'truncated' && ending.success === null;
    const success = isUnknown ? this.context.limits.truncatedSuccess : ending.success;
    const { event, summary } = this.recorder.ended({ ...ending, success });
    this.context.emit(event);
    this.active = false;
    this.context.actor.release(this.slot);
    this.context.ended({ ...summary, failure });
  }
}

const NO_OBSERVATION: Observation = { text: '', anchor: null, legalActions: null };

/** Calls directly where the answer is known. */
function whenKnown<T>(answer: T | Promise<T>, then: (answer: T) => void): void | Promise<void> {
  if (answer instanceof Promise) return answer.then(then);
  then(answer);
}
