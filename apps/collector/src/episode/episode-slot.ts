import { type EnvironmentSpec, type Observation, type StepResult } from '@retrace/environments';
import { deriveSeed } from '@retrace/random';
import type { EpisodeLimits } from '@retrace/config';
import type { PromptFormat } from '@retrace/policy';
import type { AnyEvent, SamplingParameters } from '@retrace/trajectory';
import type { Actor, FinishedAct } from '../turn/actor.js';
import type { AskMove, BeginLoop, EndMove, EpisodeLoop, FailMove, LoopMove } from '../loop/episode-loop.js';
import { ForkReplay } from '../fork/fork-replay.js';
import { isOver, joinResults, nothingDone, withNote, withoutAction } from '../loop/executed-actions.js';
import { ActingTurn } from './acting-turn.js';
import { emptyPrompt, toOutcome, environmentFails, failedEnding, NO_OBSERVATION } from './episode-ending.js';
import { EpisodeRecorder, type EndedEpisode, type RecorderContext } from './episode-recorder.js';
import { NO_TURN, type Turn } from '../turn/turn.js';
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

/** The next move of an episode; null where it waits for the actor. */
type NextMove = LoopMove | null;

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
    this.plan = plan;
    this.recorder = new EpisodeRecorder(recorder, plan);
    this.loop = beginLoop({
      prompts,
      maxTokens: actor.maxTokens,
      task: plan.group.sampled.task,
      maxSteps: this.spec.maxSteps,
    });
    this.call = null;
    this.result = null;
    this.numCalls = 0;
    this.changes = [];
    this.fork = plan.fork ? new ForkReplay(plan.fork) : null;
    this.active = true;
    emit(this.recorder.started());
    return this.goOn(this.reset());
  }

  /** Takes the model's turn, and goes on until the episode needs another one or ends. */
  act(act: FinishedAct): void | Promise<void> {
    return this.goOn(this.read(act));
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

  /**
   * Makes one move after the other until the episode waits for the actor or has ended. Environments and loops mostly answer at once; a promise for each
   * of these answers costs a tenth of the processor time of a step without a model (decision 18).
   */
  private goOn(first: NextMove | Promise<NextMove>): void | Promise<void> {
    let next = first;
    while (next !== null && !this.closed) {
      if (next instanceof Promise) return this.goOnLater(next);
      next = this.makeMove(next);
    }
  }

  /** Goes on from a move that comes later. One promise for all that follows: nested ones would stay in memory until the last. */
  private async goOnLater(first: Promise<NextMove>): Promise<void> {
    let next: NextMove | Promise<NextMove> = first;
    while (next !== null && !this.closed) next = next instanceof Promise ? await next : this.makeMove(next);
  }

  private makeMove(given: LoopMove): NextMove | Promise<NextMove> {
    // An action's step records its call; a call that no action follows is a step of its own.
    const move = given.kind === 'act' ? given : (this.recordCall() ?? given);
    if (move.kind === 'ask') return this.ask(move);
    if (move.kind === 'act') return this.carryOut(new ActingTurn(move, this.environment, () => this.closed));
    this.end(move);
    return null;
  }

  /** Goes on with a value that is given directly or by promise; not once the slot is closed. */
  private settle<T>(
    value: T | Promise<T>,
    then: (value: T) => NextMove | Promise<NextMove>,
  ): NextMove | Promise<NextMove> {
    return value instanceof Promise ? value.then((later) => (this.closed ? null : then(later))) : then(value);
  }

  private reset(): NextMove | Promise<NextMove> {
    const { group, fork, groupMember } = this.plan;
    if (group.failure !== null) return environmentFails(group.failure);
    const { task, seed } = group.sampled;
    const member = fork?.point.origin.member ?? groupMember;
    return this.settle(this.environment.reset({ task, seed, member }), (answer) => {
      if (!answer.ok) return environmentFails(answer.failure);
      this.changes.push(...(answer.changes ?? []));
      return this.show(answer.value);
    });
  }

  private show(observation: Observation): LoopMove | Promise<LoopMove> {
    const { result } = this;
    this.observation = observation;
    const wasValid = result === null || result.actionValid;
    return this.loop.observe({ observation, wasValid, isOver: isOver(result) });
  }

  /** Asks the actor for a turn, whose answer comes with `act`; where a fork has a recorded or forced turn, that is the answer. */
  private ask(ask: AskMove): NextMove | Promise<NextMove> {
    this.call = { ask, turn: null };
    const { fork } = this;
    if (fork === null) {
      this.request(ask);
      return null;
    }
    const difference = fork.checkObservation(ask.prompt.observation);
    if (difference !== null) return environmentFails(difference);
    const { chanceSeed } = fork;
    return this.settle(chanceSeed === null ? KEPT : this.environment.reseed(chanceSeed), (answer) =>
      answer.ok ? this.continueFork(fork, ask) : environmentFails(answer.failure),
    );
  }

  /** Answers with the recorded or forced turn of a fork where there is one, and asks the actor otherwise. */
  private continueFork(fork: ForkReplay, ask: AskMove): NextMove | Promise<NextMove> {
    const whole = { ...ask, prompt: fork.wholePrompt(ask.prompt) };
    this.call = { ask: fork.isAtStep ? whole : ask, turn: null };
    const turn = fork.turnFor(ask.prompt);
    if (turn === null) {
      fork.asked();
      this.request(whole);
      return null;
    }
    this.numCalls += 1;
    return this.read({ slot: this.slot, turn });
  }

  private read(act: FinishedAct): LoopMove | Promise<LoopMove> {
    if ('failure' in act) return { kind: 'fail', of: act.failure.of, failure: act.failure.reason };
    if (this.call !== null) this.call.turn = act.turn;
    return this.loop.read(act.turn);
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

  private carryOut(acting: ActingTurn): NextMove | Promise<NextMove> {
    return this.settle(acting.carryOut(), (acted) => this.finishTurn(acted));
  }

  /** Records a turn whose actions were carried out, and shows the loop what came of them. */
  private finishTurn(acted: ActingTurn): NextMove | Promise<NextMove> {
    const { move, results, changes, environmentMs, failure } = acted;
    this.context.onEnvironmentMs(environmentMs);
    if (failure !== null) {
      // The outcome of the failed action is unknown, so the turn is no step.
      this.call = null;
      return environmentFails(failure);
    }
    for (const change of changes) this.changes.push(change);
    const result = results.length > 0 ? joinResults(results, move) : nothingDone(this.observation, move);
    this.result = result;
    return this.record(result, environmentMs) ?? this.show(result.observation);
  }

  /** Records a call that no action followed, such as one for a summary. */
  private recordCall(): FailMove | null {
    if (this.call === null || this.call.turn === null) return null;
    const { purpose, prompt } = this.call.ask;
    const observation = { ...prompt.observation, anchor: null };
    const info = withNote(null, { call: purpose ?? 'thought' });
    return this.record({ ...withoutAction(observation, true), info }, 0);
  }

  /** Records a step. A step that a fork replays is only compared with the recorded one: where it differs, the episode fails. */
  private record(result: StepResult, environmentMs: number): FailMove | null {
    const { call } = this;
    this.call = null;
    if (this.fork?.isReplaying) {
      const difference = this.fork.checkResult(result);
      return difference === null ? null : environmentFails(difference);
    }
    const { prompt, messages, tools, isTrained } = call?.ask ?? notAsked(this.observation);
    const turn = call?.turn ?? NO_TURN;
    const sampling = this.fork?.isForced(turn) ? null : this.sampling;
    const changes = this.changes.splice(0);
    const step = { prompt, messages, tools, turn, result, sampling, environmentMs, isTrained, changes };
    this.context.emit(this.recorder.step(step));
    return null;
  }

  private get sampling(): SamplingParameters | null {
    const { sampling } = this.context.actor;
    return sampling && this.plan.isGreedyBaseline ? { ...sampling, greedy: true } : sampling;
  }

  /** Ends the episode with the steps that it has. After a failure the state of the environment is unknown, so a new one is made for the next episode. */
  private end(move: EndMove | FailMove): void {
    if (move.kind === 'fail') this.environment.close();
    const outcome =
      move.kind === 'fail'
        ? failedEnding({ of: move.of, reason: move.failure })
        : toOutcome(move, this.result);
    const isUnknown = outcome.endReason === 'truncated' && outcome.success === null;
    const success = isUnknown ? this.context.limits.truncatedSuccess : outcome.success;
    const { event, summary } = this.recorder.ended({ ...outcome, success });
    this.context.emit(event);
    this.active = false;
    this.loop.close();
    this.context.actor.release(this.slot);
    this.context.ended(summary);
  }
}

/** The answer where a fork keeps the chance of the episode that it was forked from. */
const KEPT: Answer<undefined> = { ok: true, value: undefined };

/** A step that no model was asked for. */
function notAsked(
  observation: Observation,
): Pick<AskMove, 'prompt' | 'tools' | 'isTrained'> & { messages: null } {
  return { prompt: emptyPrompt(observation), messages: null, isTrained: false };
}
