import type { Json, Split } from '@retrace/trajectory';

/** The agent's view before it acts. */
export interface Observation {
  readonly text: string;
  /** Identifies the environment's state for GiGPO; null when the environment offers none. Never prompt text or counters. */
  readonly anchor: string | null;
  /** Actions that are legal here, in the environment's words, if it can list them. */
  readonly legalActions: readonly string[] | null;
}

export interface ResetOptions {
  /** Task parameters, as drawn by `EnvironmentSpec.sampleTask`. */
  readonly task: Json;
  /** Equal seeds, members and actions give equal episodes. */
  readonly seed: number;
  /**
   * Place of the episode in its group (default 0). Only task and seed decide the start of an episode; later chance
   * (payouts, slips) depends on the member, too, so that the members of a group do not share their luck.
   */
  readonly member?: number;
}

export interface StepResult {
  readonly observation: Observation;
  /** null = missing, which is not zero. */
  readonly reward: number | null;
  readonly rewardNames: readonly string[];
  readonly rewardValues: readonly number[];
  /** The environment ended the episode: no bootstrap. */
  readonly terminated: boolean;
  /** The environment's own step limit cut it: bootstrap. */
  readonly truncated: boolean;
  /** The action as understood; null when it could not be parsed. */
  readonly parsedAction: string | null;
  readonly actionValid: boolean;
  /** Known once the episode is over; null before that. */
  readonly success: boolean | null;
  readonly info: Json;
}

/** One running episode's environment. Instances are reused: `reset` starts another episode. */
export interface Environment {
  /**
   * Resolves when a reset can begin, such as when a server has a place for the episode, which may take as long as other episodes do. The time
   * that a reset may take counts from then on. Absent where a reset can always begin. A reset that was not preceded by it waits by itself.
   */
  ready?(): Promise<void>;
  reset(options: ResetOptions): Observation | Promise<Observation>;
  /** @throws EnvironmentError `EPISODE_OVER` when stepped after the end. */
  step(action: string): StepResult | Promise<StepResult>;
  /**
   * The whole state of the running or ended episode, chance included: restored in any instance of the same environment, equal
   * actions get equal answers. Absent, as `restore` then is, where the environment can't.
   *
   * @throws EnvironmentError `NOT_RESET` before the first reset
   */
  snapshot?(): Json | Promise<Json>;
  /**
   * Goes on from a snapshot instead of a reset, and gives the observation of that moment.
   *
   * @throws EnvironmentError `INVALID_SNAPSHOT` for a snapshot of another environment, or one that was changed so that it is none
   */
  restore?(snapshot: Json): Observation | Promise<Observation>;
  /**
   * Draws all later chance (payouts, slips) from another seed; what was drawn already stays. Absent where nothing is left to chance after a
   * reset, or the environment can't.
   *
   * @throws EnvironmentError `NOT_RESET` before the first reset
   */
  reseed?(seed: number): void | Promise<void>;
  close(): void | Promise<void>;
}

/** Chooses actions without a learned policy: a baseline or an expert. */
export interface ScriptedAgent {
  readonly name: string;
  /** `environment` is the live instance, so experts may read its hidden state. Random choices come from `random` in [0, 1). */
  act(environment: Environment, observation: Observation, random: () => number): string;
}

export interface SampledTask {
  readonly task: Json;
  readonly seed: number;
}

/** Entry of the registry of environments; see `defineEnvironment`. */
export interface EnvironmentSpec {
  readonly name: string;
  readonly description: string;
  /** Most actions an episode can have. */
  readonly maxSteps: number;
  /** Every word that observations and actions can contain: the vocabulary of a word-level tokenizer; null without a fixed vocabulary. */
  readonly words: readonly string[] | null;
  /** Words that are actions, where an action is one word; null otherwise. */
  readonly actionWords: readonly string[] | null;
  /** Whether its observations have anchors, which GiGPO compares the steps of a group by. */
  readonly offersAnchors: boolean;
  create(): Environment;
  /** Most instances that can play at the same time; absent for any number. */
  readonly maxInstances?: number;
  /** False where all splits share their tasks, so that held-out episodes differ only in luck. */
  readonly splitsAreDisjoint: boolean;
  /** Draws the `index`-th task of a split, deterministically; splits are disjoint by hash of the task's content. */
  sampleTask(options: { readonly split: Split; readonly index: number; readonly seed: number }): SampledTask;
  /** Name of the group of tasks that a task belongs to, for metrics by family; absent where all tasks are of one kind. */
  familyOf?(task: Json): string;
  /** Named scripted agents: at least `random`; `expert` where one is known; baselines worth drawing as lines. */
  readonly agents: readonly ScriptedAgent[];
}
