import { reActAction } from '@retrace/agents';
import type { Json } from '@retrace/trajectory';
import type { Environment, Observation, ResetOptions, StepResult } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { INVALID_ACTION_NAMES, INVALID_ACTION_REWARD, INVALID_ACTION_VALUES } from '../invalid-action.js';
import { SnapshotFields } from '../snapshot-fields.js';

/** The answer of a world's rules to an action. */
export interface Outcome {
  readonly text: string;
  /** The action in the world's words; null when it is none of its actions. */
  readonly parsedAction: string | null;
  /** False for an action that the rules refuse here; it costs the turn. */
  readonly isValid: boolean;
  /** Named parts of the reward of a valid action; empty for 0. */
  readonly rewards: readonly (readonly [name: string, value: number])[];
  /** The task was solved, which ends the episode. */
  readonly isSolved: boolean;
  /** The task was lost, which ends the episode, too (default false). */
  readonly hasFailed?: boolean;
}

/** The outcome of an action that the rules refuse. @param parsedAction null when it is none of the world's actions */
export function refusal(text: string, parsedAction: string | null): Outcome {
  return { text, parsedAction, isValid: false, rewards: [], isSolved: false };
}

export interface TextWorldOptions {
  /** Name in snapshots. */
  readonly world: string;
  /** Actions after which an episode is cut. */
  readonly maxSteps: number;
  /** Words that it may say: another word in an answer (an agent's own, a large number) becomes `?`. null says everything. */
  readonly words: ReadonlySet<string> | null;
}

/**
 * The frame of the worlds that take actions of several words and answer in sentences: counts steps, ends episodes, pays −0.1 for what is
 * refused, reads the action of a ReAct reply, and makes snapshots. A world adds its rules.
 *
 * @typeParam Rules the checked task
 * @typeParam State what actions change, as JSON; a world replaces it and never modifies it
 */
export abstract class TextWorld<Rules, State extends Json> implements Environment {
  private episode: { readonly task: Json; readonly rules: Rules } | null = null;
  private current: State | null = null;
  private text = '';
  private numSteps = 0;
  private over = true;

  constructor(private readonly options: TextWorldOptions) {}

  /** @throws EnvironmentError `INVALID_TASK` */
  protected abstract parseTask(task: Json): Rules;
  protected abstract begin(rules: Rules): { readonly state: State; readonly text: string };
  /** Carries out an action. @param numSteps of the episode, this action included */
  protected abstract act(
    action: string,
    numSteps: number,
  ): { readonly state: State; readonly outcome: Outcome };
  /** Identifies task and state, without history. */
  protected abstract describeState(): string;
  protected abstract listActions(): readonly string[];
  /** Reads a state that was JSON; `fields.fault` where it is none. */
  protected abstract readState(state: Json, rules: Rules): State | null;

  reset({ task }: ResetOptions): Observation {
    const rules = this.parseTask(task);
    const { state, text } = this.begin(rules);
    this.episode = { task, rules };
    this.current = state;
    this.numSteps = 0;
    this.over = false;
    return this.say(text);
  }

  step(action: string): StepResult {
    const { world, maxSteps } = this.options;
    if (this.episode === null) {
      throw new EnvironmentError('NOT_RESET', `${world}: reset before the first step`);
    }
    if (this.over) {
      throw new EnvironmentError('EPISODE_OVER', 'the episode is over: reset before the next step');
    }
    this.numSteps += 1;
    const { state, outcome } = this.act(reActAction(action) ?? action.trim(), this.numSteps);
    this.current = state;
    const { isValid, isSolved, hasFailed = false, rewards, parsedAction } = outcome;
    const terminated = isSolved || hasFailed;
    const truncated = !terminated && this.numSteps >= maxSteps;
    this.over = terminated || truncated;
    return {
      observation: this.say(outcome.text),
      reward: isValid ? rewards.reduce((sum, [, value]) => sum + value, 0) : INVALID_ACTION_REWARD,
      rewardNames: isValid ? rewards.map(([name]) => name) : INVALID_ACTION_NAMES,
      rewardValues: isValid ? rewards.map(([, value]) => value) : INVALID_ACTION_VALUES,
      terminated,
      truncated,
      parsedAction,
      actionValid: isValid,
      success: this.over ? isSolved : null,
      info: null,
    };
  }

  snapshot(): Json {
    if (this.episode === null) {
      throw new EnvironmentError(
        'NOT_RESET',
        `${this.options.world}: nothing to snapshot before the first reset`,
      );
    }
    const { text, numSteps, over } = this;
    return { world: this.options.world, task: this.episode.task, state: this.current, text, numSteps, over };
  }

  restore(snapshot: Json): Observation {
    const { world, maxSteps } = this.options;
    const fields = new SnapshotFields(world, snapshot);
    const numSteps = fields.integer('numSteps', 0, maxSteps);
    const over = fields.boolean('over');
    const text = fields.text('text');
    const rules = this.parseTask(fields.task);
    const state = this.readState(fields.json('state'), rules);
    if (state === null) throw fields.fault('state', 'be a state of its task');
    this.episode = { task: fields.task, rules };
    this.current = state;
    this.numSteps = numSteps;
    this.over = over;
    return this.say(text);
  }

  close(): void {
    this.over = true;
  }

  /** The checked task of the episode, for experts. @throws EnvironmentError `NOT_RESET` before the first reset */
  get rules(): Rules {
    if (this.episode !== null) return this.episode.rules;
    throw new EnvironmentError('NOT_RESET', `${this.options.world}: reset first`);
  }

  /** State that actions change, for experts. @throws EnvironmentError `NOT_RESET` before the first reset */
  get state(): State {
    if (this.current !== null) return this.current;
    throw new EnvironmentError('NOT_RESET', `${this.options.world}: reset first`);
  }

  private say(text: string): Observation {
    const { words } = this.options;
    this.text = words === null ? text : text.replaceAll(/\S+/g, (word) => (words.has(word) ? word : '?'));
    return { text: this.text, anchor: this.describeState(), legalActions: this.listActions() };
  }
}

/** Every word of some texts, once each; white space separates words. */
export function wordsOf(texts: Iterable<string>): string[] {
  const words = new Set<string>();
  for (const text of texts) for (const word of text.split(/\s+/)) if (word !== '') words.add(word);
  return [...words];
}
