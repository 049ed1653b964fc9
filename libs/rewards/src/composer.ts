import {
  getReward,
  resolveRewardOptions,
  type RewardComponent,
  type RewardContext,
  type RewardOutcome,
} from './component.js';
import type { RewardEpisode } from './episode.js';
import { RewardError } from './errors.js';

/** One weighted component of a composition, as a recipe writes it. */
export interface ComponentConfig {
  /** Which component of the registry. */
  readonly reward: string;
  /** What it is called in the breakdown; default: the component's name. Must differ from the others. */
  readonly name?: string;
  /** Default 1. */
  readonly weight?: number;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** What one component contributed to an episode. */
export interface ComponentScore {
  readonly name: string;
  readonly weight: number;
  /** Unweighted: its value for the episode, or the sum over steps; null when missing or failed. */
  readonly value: number | null;
  /** Unweighted value of each step; null for a component on the whole episode, or when missing or failed. */
  readonly stepValues: Float64Array | null;
  /** Why it failed; null when it did not. Missing alone is no fault. */
  readonly fault: string | null;
}

/** The reward of an episode, with the breakdown that led to it. */
export interface EpisodeReward {
  /**
   * Weighted sum of everything; null as soon as one component with a weight is missing or failed. An episode whose total
   * is null is left out of training: it is never 0.
   */
  readonly total: number | null;
  /** The part given to the episode as a whole; 0 without such a component. Read it only when `total` is not null. */
  readonly episodeReward: number;
  /** The part given to each step. Read it only when `total` is not null. */
  readonly stepRewards: Float64Array;
  readonly components: readonly ComponentScore[];
}

interface ComposedComponent {
  readonly name: string;
  readonly weight: number;
  readonly component: RewardComponent;
  readonly options: ReturnType<typeof resolveRewardOptions>;
}

/** Named, weighted components that score episodes together. */
export class RewardComposer {
  readonly #components: readonly ComposedComponent[];

  /**
   * @throws RewardError `UNKNOWN_NAME` for a component that is not registered, `DUPLICATE_NAME` for two of one name,
   * `INVALID_ARGUMENT` for no component, a weight that is not finite, or bad options
   */
  constructor(configs: readonly ComponentConfig[]) {
    if (configs.length === 0)
      throw new RewardError('INVALID_ARGUMENT', 'components is empty, must hold at least one reward');
    const names = new Set<string>();
    this.#components = configs.map(({ reward, name = reward, weight = 1, options }) => {
      if (names.has(name))
        throw new RewardError('DUPLICATE_NAME', `two reward components are named '${name}'`);
      names.add(name);
      if (!Number.isFinite(weight)) {
        throw new RewardError('INVALID_ARGUMENT', `weight of ${name} is ${String(weight)}, must be finite`);
      }
      const component = getReward(reward);
      return { name, weight, component, options: resolveRewardOptions(component, options) };
    });
  }

  /** Whether any component reads more of an episode than rewards, validity, anchors and the outcome. */
  get readsTexts(): boolean {
    return this.#components.some(({ component }) => component.readsOutcomesOnly !== true);
  }

  /** Scores one episode. Never throws for what a component does: its fault stands in the breakdown. */
  async score(episode: RewardEpisode, context: RewardContext = {}): Promise<EpisodeReward> {
    const components: ComponentScore[] = [];
    const stepRewards = new Float64Array(episode.steps.length);
    let episodeReward = 0;
    let known = true;
    for (const composed of this.#components) {
      const score = await scoreComponent(composed, episode, context);
      components.push(score);
      if (composed.weight === 0) continue;
      if (score.value === null) known = false;
      else if (score.stepValues === null) episodeReward += composed.weight * score.value;
      else
        for (let k = 0; k < stepRewards.length; k++) stepRewards[k] += composed.weight * score.stepValues[k];
    }
    const total = known ? stepRewards.reduce((sum, reward) => sum + reward, episodeReward) : null;
    return { total, episodeReward, stepRewards, components };
  }

  /**
   * What the scores depend on, as canonical text: components in order with weights, resolved options and code versions.
   * `rewardVersion` is its hash.
   */
  describe(): string {
    return JSON.stringify(
      this.#components.map(({ name, weight, component, options }) => ({
        name,
        weight,
        reward: component.name,
        codeVersion: component.codeVersion,
        options: Object.fromEntries(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))),
      })),
    );
  }
}

async function scoreComponent(
  { name, weight, component, options }: ComposedComponent,
  episode: RewardEpisode,
  context: RewardContext,
): Promise<ComponentScore> {
  try {
    const outcome = await component.score(episode, options, context);
    return { name, weight, ...summarize(outcome, episode.steps.length), fault: null };
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    return { name, weight, value: null, stepValues: null, fault };
  }
}

/** One missing step makes the component's sum unknown. */
function summarize(outcome: RewardOutcome, numSteps: number): Pick<ComponentScore, 'value' | 'stepValues'> {
  if (outcome.scope === 'episode') {
    if (outcome.value !== null && !Number.isFinite(outcome.value)) {
      throw new RewardError('INVALID_ARGUMENT', `value is ${String(outcome.value)}, must be finite or null`);
    }
    return { value: outcome.value, stepValues: null };
  }
  const { values } = outcome;
  if (values.length !== numSteps) {
    throw new RewardError(
      'INVALID_ARGUMENT',
      `${String(values.length)} step values, must be one for each of the ${String(numSteps)} steps`,
    );
  }
  if (values.includes(null)) return { value: null, stepValues: null };
  const stepValues = Float64Array.from(values as readonly number[]);
  const bad = stepValues.findIndex((value) => !Number.isFinite(value));
  if (bad !== -1) {
    throw new RewardError(
      'INVALID_ARGUMENT',
      `value of step ${String(bad)} is ${String(stepValues[bad])}, must be finite or null`,
    );
  }
  return { value: stepValues.reduce((sum, value) => sum + value, 0), stepValues };
}
