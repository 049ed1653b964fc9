import { type EnvironmentSpec, type Observation, type StepResult } from '@retrace/environments';
import { deriveSeed } from '@retrace/random';
import type { EpisodeLimits } from '@retrace/config';
import type { PromptFormat } from '@retrace/policy';
import type { AnyEvent, SamplingParameters } from '@retrace/trajectory';
import type { Actor, FinishedAct } from '../turn/actor.js';
import type { AskMove, BeginLoop, EpisodeLoop, LoopMove } from '../loop/episode-loop.js';
import { ForkReplay } from '../fork/fork-replay.js';
import {
  isOver,
  joinResults,
  nothingDone,
  withNote,
  withoutAction,
  type ActingTurn,
} from '../loop/executed-actions.js';
import { emptyPrompt, endingOf, failedEnding, NO_OBSERVATION } from './episode-ending.js';
import {
  EpisodeRecorder,
  type EndedEpisode,
  type EpisodeOutcome,
  type RecorderContext,
} from './episode-recorder.js';
import { NO_TURN, type EpisodeFailure, type Turn } from '../turn/turn.js';
import { GuardedEnvironment, type Answer } from '../environment/guarded-environment.js';
import type { PlannedEpisode } from './planned-episode.js';

export interface SlotContext {
  readonly actor: Actor;
  readonly beginLoop: BeginLoop;
  readonly prompts: PromptFormat;
  readonly limits: EpisodeLimits;
  /** Most characters of all texts of one answer of the environment. */
  readonly maxCharacters?: number;
  readonly recorder: RecorderContext;
  /** Receives each event as it happens, in order. */
  readonly emit: (event: AnyEvent) => void;
  readonly ended: (summary: EndedEpisode) => void;
  readonly onEnvironmentMs: (ms: number) => void;
}

/** A call of the model, and its answer once there is one. */
interface ModelCall {
  readonly ask: AskMove;
  turn: Turn | null;
}

/** One of the concurrent episodes: takes what its loop decides to the model and the environment, and records it. Reused from episode to episode. */
export class EpisodeSlot {
  private readonly environment: GuardedEnvironment;
  private plan!: PlannedEpisode;
  private recorder!: EpisodeRecorder;
  private loop!: EpisodeLoop;
  private observation: Observation = NO_OBSERVATION;
  /** The call whose answer is not recorded yet. */
  private call: ModelCall | null = null;
  /** The outcome of the last actions; null before the first. */
  private result: StepResult | null = null;
  private numCalls = 0;
  /** Changes made to the environment's answers since the last step, in words; the next step records them. */
  private changes: string[] = [];
  /** Brings a forked episode to its step; null for others. */
  private fork: ForkReplay | null = null;
  private active = false;
  private closed = false;

  constructor(
    readonly slot: number,
    private readonly spec: Pick<EnvironmentSpec, 'create' | 'maxSteps'>,
    private readonly context: SlotContext,
  ) {
    this.environment = new GuardedEnvironment(spec, {
      ...context.limits,
      maxCharacters: context.maxCharacters,
    });
  }

  /** Whether it is occupied: an episode is under way, or the slot is closed. */
  get isActive(): boolean {
    return this.active || this.closed;
  }

  /** Starts an episode and asks the actor for its first action, unless the episode ends before that. */
  start(plan: PlannedEpisode): void | Promise<void> {
    const { actor, prompts, recorder, emit, beginLoop } = this.context;
    const { failure, sampled } = plan.group;
    this.plan = plan;
    this.recorder = new EpisodeRecorder(recorder, plan);
    this.loop = beginLoop({
      prompts,
      maxTokens: actor.maxTokens,
      task: sampled.task,
      maxSteps: this.spec.maxSteps,
    });
    this.call = null;
    this.result = null;
    this.numCalls = 0;
    this.changes = [];
    this.fork = plan.fork ? new ForkReplay(plan.fork) : null;
    this.active = true;
    emit(this.recorder.started());
    if (failure !== null) return this.failBy({ failure });
    const { task, seed } = sampled;
    const member = plan.fork?.point.origin.member ?? plan.groupMember;
    const answer = this.environment.reset({ task, seed, member });
    return answer instanceof Promise ? answer.then((later) => this.begin(later)) : this.begin(answer);
  }

  /** Takes the model's turn, and goes on until the episode needs another one or ends. */
  act(act: FinishedAct): void | Promise<void> {
    if ('failure' in act) {
      this.fail(act.failure);
      return;
    }
    if (this.call !== null) this.call.turn = act.turn;
    return this.follow(this.loop.read(act.turn));
  }

  /** Gives the environment up without waiting for it; what it still answers is not recorded. */
  close(): void {
    this.closed = true;
    if (this.active) {
      this.loop.close();
      this.context.actor.release(this.slot);
    }
    this.environment.close();
  }

  private begin(answer: Answer<Observation>): void | Promise<void> {
    if (this.closed) return;
    if (answer.ok) {
      this.changes.push(...(answer.changes ?? []));
      return this.show(answer.value);
    }
    this.failBy(answer);
  }

  private show(observation: Observation): void | Promise<void> {
    const { result } = this;
    this.observation = observation;
    const wasValid = result === null || result.actionValid;
    return this.follow(this.loop.observe({ observation, wasValid, isOver: isOver(result) }));
  }

  private follow(next: LoopMove | Promise<LoopMove>): void | Promise<void> {
    return next instanceof Promise ? next.then((move) => this.make(move)) : this.make(next);
  }

  private make(move: LoopMove): void | Promise<void> {
    if (this.closed) return;
    switch (move.kind) {
      case 'ask':
        return this.recordCall() ? this.ask(move) : undefined;
      case 'act':
        return this.carryOut({ move, results: [], environmentMs: 0 });
      case 'end':
        if (this.recordCall()) this.end(endingOf(move, this.result));
        return;
      case 'fail':
        if (this.recordCall()) this.fail({ of: move.of, reason: move.failure });
    }
  }

  private ask(ask: AskMove): void | Promise<void> {
    this.call = { ask, turn: null };
    const { fork } = this;
    if (fork === null) {
      this.request(ask);
      return;
    }
    const difference = fork.checkObservation(ask.prompt.observation);
    if (difference !== null) return this.failBy({ failure: difference });
    const answer = this.reseed(fork.chanceSeed);
    return answer instanceof Promise
      ? answer.then((later) => this.continueFork(fork, ask, later))
      : this.continueFork(fork, ask, answer);
  }

  /** Answers with the recorded or forced turn of a fork where there is one, and asks the actor otherwise. */
  private continueFork(fork: ForkReplay, ask: AskMove, reseeded: Answer<undefined>): void | Promise<void> {
    if (this.closed) return;
    if (!reseeded.ok) return this.failBy(reseeded);
    const whole = { ...ask, prompt: fork.wholePrompt(ask.prompt) };
    this.call = { ask: fork.isAtStep ? whole : ask, turn: null };
    const turn = fork.turnFor(ask.prompt);
    if (turn === null) {
      fork.asked();
      this.request(whole);
      return;
    }
    this.numCalls += 1;
    return this.act({ slot: this.slot, turn });
  }

  /** Draws the later chance of a fork from `seed`; null keeps the chance of the episode that it was forked from. */
  private reseed(seed: number | null): Answer<undefined> | Promise<Answer<undefined>> {
    return seed === null ? KEPT : this.environment.reseed(seed);
  }

  private request({ prompt, messages, purpose }: AskMove): void {
    this.context.actor.request({
      slot: this.slot,
      environment: this.environment.instance,
      observation: prompt.observation,
      prompt,
      messages,
      purpose,
      // A seed for each turn, since with a fresh context all turns sample at the same position.
      samplingSeed: deriveSeed(this.plan.samplingSeed, this.numCalls++),
      greedy: this.plan.isGreedyBaseline,
    });
  }

  /** Carries out the remaining actions of a turn in the environment, and records the turn. */
  private carryOut(acting: ActingTurn): void | Promise<void> {
    const { actions } = acting.move;
    const { results } = acting;
    while (results.length < actions.length && !isOver(results.at(-1))) {
      const startedMs = performance.now();
      const answer = this.environment.step(actions[results.length]);
      if (answer instanceof Promise) {
        return answer.then((later) =>
          this.takeResult(acting, later, startedMs) ? this.carryOut(acting) : undefined,
        );
      }
      if (!this.takeResult(acting, answer, startedMs)) return;
    }
    return this.finishTurn(acting);
  }

  /** Adds the outcome of one action. False when there is none, or the slot was closed meanwhile. */
  private takeResult(acting: ActingTurn, answer: Answer<StepResult>, startedMs: number): boolean {
    if (this.closed) return false;
    const environmentMs = performance.now() - startedMs;
    this.context.onEnvironmentMs(environmentMs);
    if (!answer.ok) {
      this.failBy(answer);
      return false;
    }
    acting.results.push(answer.value);
    this.changes.push(...(answer.changes ?? []));
    acting.environmentMs += environmentMs;
    return true;
  }

  private finishTurn({ move, results, environmentMs }: ActingTurn): void | Promise<void> {
    const result = results.length > 0 ? joinResults(results, move) : nothingDone(this.observation, move);
    this.result = result;
    if (this.record(result, environmentMs)) return this.show(result.observation);
  }

  /** Records a call that no action followed, such as one for a summary. False when that ended the episode. */
  private recordCall(): boolean {
    if (this.call === null || this.call.turn === null) return true;
    const { purpose, prompt } = this.call.ask;
    const observation = { ...prompt.observation, anchor: null };
    const info = withNote(null, { call: purpose ?? 'thought' });
    return this.record({ ...withoutAction(observation, true), info }, 0);
  }

  /** Records a step. A step that a fork replays is only compared with the recorded one: where it differs, the episode ends and this returns false. */
  private record(result: StepResult, environmentMs: number): boolean {
    const { call } = this;
    this.call = null;
    if (this.fork?.isReplaying) {
      const difference = this.fork.checkResult(result);
      if (difference !== null) this.fail({ of: 'environment', reason: difference });
      return difference === null;
    }
    const { prompt, messages, tools, isTrained } = call?.ask ?? notAsked(this.observation);
    const turn = call?.turn ?? NO_TURN;
    const sampling = this.fork?.isForced(turn) ? null : this.sampling;
    const changes = this.changes.splice(0);
    const step = { prompt, messages, tools, turn, result, sampling, environmentMs, isTrained, changes };
    this.context.emit(this.recorder.step(step));
    return true;
  }

  private get sampling(): SamplingParameters | null {
    const { sampling } = this.context.actor;
    return sampling && this.plan.isGreedyBaseline ? { ...sampling, greedy: true } : sampling;
  }

  private failBy({ failure }: { readonly failure: string }): void {
    this.fail({ of: 'environment', reason: failure });
  }

  /** Ends the episode with the steps that it has. The state of the environment is unknown now, so a new one is made for the next episode. */
  private fail(failure: EpisodeFailure): void {
    this.environment.close();
    this.end(failedEnding(failure));
  }

  private end({ endReason, endDetail, final, success: told, failure }: EpisodeOutcome): void {
    const isUnknown = endReason === 'truncated' && told === null;
    const success = isUnknown ? this.context.limits.truncatedSuccess : told;
    const { event, summary } = this.recorder.ended({ endReason, endDetail, final, success, failure });
    this.context.emit(event);
    this.active = false;
    this.loop.close();
    this.context.actor.release(this.slot);
    this.context.ended(summary);
  }
}

/** A step that no model was asked for. */
function notAsked(
  observation: Observation,
): Pick<AskMove, 'prompt' | 'tools' | 'isTrained'> & { messages: null } {
  return { prompt: emptyPrompt(observation), messages: null, isTrained: false };
}

/** The answer where chance stays as it is. */
const KEPT: Answer<undefined> = { ok: true, value: undefined };
