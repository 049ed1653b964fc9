import {
  NamedRegistry,
  resolveOptions,
  type OptionSchema,
  type OptionsOf,
} from '@retrace/algorithms/registry';
import type { RewardEpisode } from './episode.js';
import type { JudgeAnswer, JudgeRequest } from './judge.js';
import { RewardError } from './errors.js';

/**
 * Result of a component for one episode: a value for all of it, or one per step. Null = missing: the component cannot know (yet),
 * which is not zero.
 */
export type RewardOutcome =
  | {
      readonly scope: 'episode';
      readonly value: number | null;
      /** Why the value is missing, where there is more to say than that. */
      readonly missing?: string;
    }
  | { readonly scope: 'step'; readonly values: readonly (number | null)[] };

/** A reward that was assigned to an episode, or to a step of it. */
export interface AssignedValue {
  /** null = the whole episode. */
  readonly step: number | null;
  readonly name: string;
  readonly value: number;
  readonly source: string;
}

/** State from outside an episode that a component may read. */
export interface RewardContext {
  /** How often a state (by its anchor) was visited in the run before the episode that is scored began. */
  readonly visitCount?: (anchor: string) => number;
  /** Rewards of the episode that is scored, as they counted at a place in the log that an option names. */
  readonly assigned?: (until: string) => readonly AssignedValue[];
  /** Asks a judge about the episode that is scored. */
  readonly judge?: (request: JudgeRequest) => Promise<JudgeAnswer>;
}

/** Context that `RewardComposer.score` passes on; a judge learns which component asks. */
export interface ScoringContext extends Omit<RewardContext, 'judge'> {
  readonly judge?: (request: JudgeRequest, component: string) => Promise<JudgeAnswer>;
}

/**
 * A kind of reward. Adding one is one file with one `defineReward`, or `registerReward` for one that ships with this library.
 *
 * `score` reads the episode and nothing else that changes (no clock, no chance), so that scoring a stored episode again
 * gives the same value. It may throw: that is a fault of this component on this episode, never a 0.
 */
export interface RewardComponent<S extends OptionSchema = OptionSchema> {
  readonly name: string;
  readonly description: string;
  readonly options: S;
  /**
   * True when it reads only rewards, validity, anchors and the outcome, so that a trainer need not fetch texts, the task or
   * named reward parts to score an episode. Default: it may read everything.
   */
  readonly readsOutcomesOnly?: boolean;
  /** True when it uses `RewardContext.judge`: the scorer then looks up earlier verdicts. */
  readonly asksJudge?: boolean;
  /** True when it uses `RewardContext.visitCount`: the scorer then counts the visits in the run's history. */
  readonly countsVisits?: boolean;
  /** The place in the log up to which it uses `RewardContext.assigned`, by its options; '' where they name none yet. */
  readonly assignedUntil?: (options: OptionsOf<S>) => string;
  /** Options that cannot change a score (timeouts, prices): they are left out of the reward version. */
  readonly operationalOptions?: readonly string[];
  /** Checks options that must fit one another; null without a fault. */
  readonly optionsFault?: (options: OptionsOf<S>) => string | null;
  /** Checks options against the episodes that are scored together: why they can't be meant; null without a fault. It ends the scoring. */
  readonly episodesFault?: (episodes: readonly RewardEpisode[], options: OptionsOf<S>) => string | null;
  score(
    episode: RewardEpisode,
    options: OptionsOf<S>,
    context: RewardContext,
  ): RewardOutcome | Promise<RewardOutcome>;
}

/** A component with the module of its code, whose text and imports are part of the reward version. */
export interface RewardImplementation {
  readonly name: string;
  readonly component: RewardComponent;
  /** URL, as in `import.meta.url`. */
  readonly module: string;
}

const registry = new NamedRegistry<RewardImplementation>(
  'reward component',
  (code, message) => new RewardError(code, message),
);

/**
 * Checks the parts of a component. A file with a user's reward exports the result as its default.
 *
 * @throws RewardError `INVALID_ARGUMENT` naming the part that is missing or of another kind
 */
export function defineReward<S extends OptionSchema>(component: RewardComponent<S>): RewardComponent<S> {
  const fault = componentFault(component);
  if (fault !== null) throw new RewardError('INVALID_ARGUMENT', fault);
  return component;
}

/**
 * Registers a component under its name.
 *
 * @param module `import.meta.url` of the file that it is written in
 * @throws RewardError `DUPLICATE_NAME` when the name is taken, and the errors of `defineReward`
 */
export function registerReward<S extends OptionSchema>(module: string, component: RewardComponent<S>): void {
  registry.define({
    name: component.name,
    component: defineReward(component) as unknown as RewardComponent,
    module,
  });
}

/** @throws RewardError `UNKNOWN_NAME`, naming the near ones */
export function getReward(name: string): RewardImplementation {
  return registry.get(name);
}

/** Names of all reward components, sorted. */
export function listRewards(): string[] {
  return registry.names();
}

/**
 * Checks the options of a component and fills in its defaults.
 *
 * @throws RewardError `INVALID_ARGUMENT` naming the option, its value and its rule
 */
export function resolveRewardOptions<S extends OptionSchema>(
  component: RewardComponent<S>,
  given: Readonly<Record<string, unknown>> = {},
): OptionsOf<S> {
  const refuse = (fault: string) => new RewardError('INVALID_ARGUMENT', `reward ${component.name}: ${fault}`);
  const options = resolveOptions(component.options, given, refuse);
  const together = component.optionsFault?.(options) ?? null;
  if (together !== null) throw refuse(together);
  return options;
}

/** Why a value is not a component; null when it is one. */
export function componentFault(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return `reward is ${typeof value}, must be an object`;
  const { name, description, options, score } = value as Partial<Record<keyof RewardComponent, unknown>>;
  if (typeof name !== 'string' || name === '') {
    return `reward: name is ${JSON.stringify(name)}, must be a text that is not empty`;
  }
  if (typeof description !== 'string')
    return `reward ${name}: description is ${typeof description}, must be a text`;
  if (typeof options !== 'object' || options === null) {
    return `reward ${name}: options is ${options === null ? 'null' : typeof options}, must be a schema; {} for none`;
  }
  for (const [option, spec] of Object.entries(options)) {
    if (typeof (spec as { accepts?: unknown } | null)?.accepts !== 'function') {
      return `reward ${name}: option ${option} must be made by real(), flag(), text() …`;
    }
  }
  if (typeof score !== 'function') return `reward ${name}: score is ${typeof score}, must be a function`;
  return null;
}
