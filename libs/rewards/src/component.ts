import {
  NamedRegistry,
  optionFault,
  withDefaults,
  type OptionSchema,
  type OptionsOf,
} from '@retrace/algorithms/registry';
import type { RewardEpisode } from './episode.js';
import { RewardError } from './errors.js';

/**
 * What a component says about one episode: a value for the whole of it, or one per step. Null = missing: the component
 * cannot know (yet), which is not zero.
 */
export type RewardOutcome =
  | { readonly scope: 'episode'; readonly value: number | null }
  | { readonly scope: 'step'; readonly values: readonly (number | null)[] };

/** State from outside an episode that a component may read. */
export interface RewardContext {
  /** How often a state (by its anchor) was visited before this batch, for exploration bonuses. */
  readonly visitCount?: (anchor: string) => number;
}

/**
 * A kind of reward. Adding one is one file and one `defineReward`.
 *
 * `score` reads the episode and nothing else that changes (no clock, no chance), so that scoring a stored episode again
 * gives the same value. It may throw: that is a fault of this component on this episode, never a 0.
 */
export interface RewardComponent<S extends OptionSchema = OptionSchema> {
  readonly name: string;
  readonly description: string;
  /** Raise it whenever the code scores differently: it is part of the reward version. */
  readonly codeVersion: number;
  readonly options: S;
  /**
   * True when it reads rewards, validity, anchors and the outcome alone, so that a trainer need not fetch texts, the task or
   * named reward parts to score an episode. Default: it may read everything.
   */
  readonly readsOutcomesOnly?: boolean;
  /** What is wrong with options that are each fine by themselves; null if nothing. */
  readonly optionsFault?: (options: OptionsOf<S>) => string | null;
  score(
    episode: RewardEpisode,
    options: OptionsOf<S>,
    context: RewardContext,
  ): RewardOutcome | Promise<RewardOutcome>;
}

const registry = new NamedRegistry<RewardComponent>({
  noun: 'reward component',
  fault: (code, message) => new RewardError(code, message),
});

/** @throws RewardError `DUPLICATE_NAME` when the name is taken */
export function defineReward<S extends OptionSchema>(component: RewardComponent<S>): RewardComponent<S> {
  registry.define(component as unknown as RewardComponent);
  return component;
}

/** @throws RewardError `UNKNOWN_NAME`, naming the near ones */
export function getReward(name: string): RewardComponent {
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
  const fault = optionFault(component.options, given);
  if (fault !== null) throw new RewardError('INVALID_ARGUMENT', `reward ${component.name}: ${fault}`);
  const options = withDefaults(component.options, given);
  const together = component.optionsFault?.(options) ?? null;
  if (together !== null) throw new RewardError('INVALID_ARGUMENT', `reward ${component.name}: ${together}`);
  return options;
}
