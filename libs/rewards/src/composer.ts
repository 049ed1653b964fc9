import {
  getReward,
  resolveRewardOptions,
  type RewardComponent,
  type RewardImplementation,
  type RewardOutcome,
  type ScoringContext,
} from './component.js';
import { dataSourceOf, type RewardEpisode } from './episode.js';
import { RewardError } from './errors.js';

/** One weighted component of a composition, as a recipe writes it. Either `reward` or `module`. */
export interface ComponentConfig {
  /** Which component of the registry. */
  readonly reward?: string;
  /** Path of a file whose default export is the component. */
  readonly module?: string;
  /** Name in the breakdown; default: the component's name. Must differ from the others. */
  readonly name?: string;
  /** Default 1. */
  readonly weight?: number;
  readonly options?: Readonly<Record<string, unknown>>;
  /** Data sources whose episodes it scores; default: all. */
  readonly sources?: readonly string[];
}

export interface CompositionOptions {
  /** Components that were loaded from files, by `ComponentConfig.module`. */
  readonly modules?: ReadonlyMap<string, RewardImplementation>;
  /** Dotted path in the task to an episode's data source (default `data_source`); without it the source is the environment. */
  readonly sourceField?: string;
  /**
   * Treatment of an episode whose data source no component names, where some name any: a fault (default), or it is scored by the
   * components that name none.
   */
  readonly unlistedSource?: 'fault' | 'common';
}

/** Contribution of one component to an episode. */
export interface ComponentScore {
  readonly name: string;
  readonly weight: number;
  /** Unweighted: its value for the episode, or the sum over steps; null when missing or failed. */
  readonly value: number | null;
  /** Unweighted value of each step; null for a component on the whole episode, or when missing or failed. */
  readonly stepValues: Float64Array | null;
  /** Why it failed; null when it did not. A missing value is no fault. */
  readonly fault: string | null;
  /** Why it is missing, where the component says so. */
  readonly missing: string | null;
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
  /** Of the components that apply to the episode's data source. */
  readonly components: readonly ComponentScore[];
  /** `UNKNOWN_SOURCE`, when no component is meant for the episode; then `total` is null. */
  readonly fault: RewardError | null;
}

interface ComposedComponent {
  readonly name: string;
  readonly weight: number;
  readonly component: RewardComponent;
  readonly module: string;
  readonly options: ReturnType<typeof resolveRewardOptions>;
  /** null = all. */
  readonly sources: readonly string[] | null;
}

/** Named, weighted components that score episodes together. */
export class RewardComposer {
  private readonly components: readonly ComposedComponent[];
  private readonly sourceField: string;
  private readonly unlistedSource: 'fault' | 'common';
  private readonly sources: ReadonlySet<string>;

  /**
   * @throws RewardError `UNKNOWN_NAME` for a component that is not registered or a module that is not among the loaded,
   * `DUPLICATE_NAME` for two of one name, `INVALID_ARGUMENT` for no component, a weight that is not finite, an empty list
   * of sources, or bad options
   */
  constructor(
    configs: readonly ComponentConfig[],
    { modules = new Map(), sourceField = 'data_source', unlistedSource = 'fault' }: CompositionOptions = {},
  ) {
    if (configs.length === 0)
      throw new RewardError('INVALID_ARGUMENT', 'components is empty, must hold at least one reward');
    const names = new Set<string>();
    this.components = configs.map((config) => {
      const { component, module } = resolveImplementation(config, modules);
      const { name = component.name, weight = 1, options, sources = null } = config;
      if (names.has(name))
        throw new RewardError('DUPLICATE_NAME', `two reward components are named '${name}'`);
      names.add(name);
      if (!Number.isFinite(weight)) {
        throw new RewardError('INVALID_ARGUMENT', `weight of ${name} is ${weight}, must be finite`);
      }
      if (sources?.length === 0) {
        throw new RewardError('INVALID_ARGUMENT', `sources of ${name} is empty, must name a data source`);
      }
      return { name, weight, component, module, options: resolveRewardOptions(component, options), sources };
    });
    this.sourceField = sourceField;
    this.unlistedSource = unlistedSource;
    this.sources = new Set(this.components.flatMap(({ sources }) => sources ?? []));
  }

  /** [C] Names of the components in the breakdown. */
  get names(): readonly string[] {
    return this.components.map(({ name }) => name);
  }

  /** [C] Weights of the components. */
  get weights(): Float32Array {
    return Float32Array.from(this.components, ({ weight }) => weight);
  }

  /** Whether any component reads more of an episode than rewards, validity, anchors and the outcome. */
  get readsTexts(): boolean {
    return (
      this.sources.size > 0 || this.components.some(({ component }) => component.readsOutcomesOnly !== true)
    );
  }

  /** Whether any component asks a judge. */
  get asksJudge(): boolean {
    return this.components.some(({ component }) => component.asksJudge === true);
  }

  /** Whether any component counts the visits of states. */
  get countsVisits(): boolean {
    return this.components.some(({ component }) => component.countsVisits === true);
  }

  /** Places in the log up to which components read assigned rewards, without repeats. */
  get assignedUntil(): readonly string[] {
    const places = this.components.map(({ component, options }) => component.assignedUntil?.(options) ?? '');
    return [...new Set(places.filter((place) => place !== ''))];
  }

  /** URLs of the modules that the components are written in, in their order, and of this one. */
  get modules(): readonly string[] {
    return [...this.components.map(({ module }) => module), import.meta.url];
  }

  /**
   * Checks the options of the components against episodes that are to be scored.
   *
   * @throws RewardError `INVALID_ARGUMENT` naming the component, the option and its rule
   */
  requireOptionsFor(episodes: readonly RewardEpisode[]): void {
    for (const { name, component, options } of this.components) {
      const applicable = episodes.filter((episode) => this.appliesTo(name, episode));
      const fault = component.episodesFault?.(applicable, options) ?? null;
      if (fault !== null) throw new RewardError('INVALID_ARGUMENT', `reward ${name}: ${fault}`);
    }
  }

  /** Scores one episode. An error of a component is not thrown, but recorded in the breakdown. */
  async score(episode: RewardEpisode, context: ScoringContext = {}): Promise<EpisodeReward> {
    const components: ComponentScore[] = [];
    const stepRewards = new Float64Array(episode.steps.length);
    let episodeReward = 0;
    const applicable = this.applicableTo(episode);
    if (applicable instanceof RewardError) {
      return { total: null, episodeReward, stepRewards, components, fault: applicable };
    }
    let known = true;
    for (const composed of applicable) {
      const score = await scoreComponent(composed, episode, context);
      components.push(score);
      if (composed.weight === 0) continue;
      if (score.value === null) known = false;
      else if (score.stepValues === null) episodeReward += composed.weight * score.value;
      else
        for (let k = 0; k < stepRewards.length; k++) stepRewards[k] += composed.weight * score.stepValues[k];
    }
    const total = known ? stepRewards.reduce((sum, reward) => sum + reward, episodeReward) : null;
    return { total, episodeReward, stepRewards, components, fault: null };
  }

  /**
   * Everything that the scores depend on, as canonical text: components in order with weights, sources and resolved options. With
   * the code of `modules` it makes the reward version.
   */
  describe(): string {
    const components = this.components.map(({ name, weight, component, options, sources }) => ({
      name,
      weight,
      reward: component.name,
      options: Object.fromEntries(
        Object.entries(options)
          .filter(([option]) => component.operationalOptions?.includes(option) !== true)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
      ...(sources === null ? {} : { sources: [...sources].sort() }),
    }));
    const dispatch = { sourceField: this.sourceField, unlistedSource: this.unlistedSource };
    return JSON.stringify(this.sources.size === 0 ? components : { components, ...dispatch });
  }

  private appliesTo(component: string, episode: RewardEpisode): boolean {
    const applicable = this.applicableTo(episode);
    return !(applicable instanceof RewardError) && applicable.some(({ name }) => name === component);
  }

  private applicableTo(episode: RewardEpisode): readonly ComposedComponent[] | RewardError {
    if (this.sources.size === 0) return this.components;
    const source = dataSourceOf(episode, this.sourceField);
    const isListed = this.sources.has(source);
    const applicable = this.components.filter(({ sources }) => sources?.includes(source) ?? true);
    if (isListed || (this.unlistedSource === 'common' && applicable.length > 0)) return applicable;
    return new RewardError(
      'UNKNOWN_SOURCE',
      `data source is '${source}', must be one that a component names: ${[...this.sources].sort().join(', ')}`,
    );
  }
}

function resolveImplementation(
  { reward, module }: ComponentConfig,
  modules: ReadonlyMap<string, RewardImplementation>,
): RewardImplementation {
  if (module === undefined) {
    if (reward !== undefined) return getReward(reward);
    throw new RewardError('INVALID_ARGUMENT', 'a component has neither reward nor module, must have one');
  }
  if (reward !== undefined) {
    throw new RewardError(
      'INVALID_ARGUMENT',
      `a component has reward '${reward}' and module '${module}', must have one of them`,
    );
  }
  const loaded = modules.get(module);
  if (loaded === undefined) throw new RewardError('UNKNOWN_NAME', `reward module '${module}' was not loaded`);
  return loaded;
}

async function scoreComponent(
  { name, weight, component, options }: ComposedComponent,
  episode: RewardEpisode,
  context: ScoringContext,
): Promise<ComponentScore> {
  try {
    const { judge, ...rest } = context;
    const outcome = await component.score(episode, options, {
      ...rest,
      ...(judge === undefined ? {} : { judge: (request) => judge(request, name) }),
    });
    return { name, weight, ...summarize(outcome, episode.steps.length), fault: null };
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    return { name, weight, value: null, stepValues: null, fault, missing: null };
  }
}

/** Checks and sums up an outcome, which in a user's file may be anything. One missing step makes the sum unknown. */
function summarize(
  outcome: RewardOutcome | null | undefined,
  numSteps: number,
): Pick<ComponentScore, 'value' | 'stepValues' | 'missing'> {
  const missing = { value: null, stepValues: null, missing: null };
  switch (outcome?.scope) {
    case 'episode': {
      if (outcome.value === null) return { ...missing, missing: outcome.missing ?? null };
      requireFinite(outcome.value, 'value');
      return { value: outcome.value, stepValues: null, missing: null };
    }
    case 'step': {
      const { values } = outcome;
      if (!Array.isArray(values) && !(values instanceof Float64Array)) {
        throw new RewardError(
          'INVALID_ARGUMENT',
          `values is ${JSON.stringify(values) ?? 'undefined'}, must be a list with a value for each step`,
        );
      }
      if (values.length !== numSteps) {
        throw new RewardError(
          'INVALID_ARGUMENT',
          `${values.length} step values, must be one for each of the ${numSteps} steps`,
        );
      }
      values.forEach((value, step) => {
        if (value !== null) requireFinite(value, `value of step ${step}`);
      });
      if (values.includes(null)) return missing;
      const stepValues = Float64Array.from(values as ArrayLike<number>);
      return { value: stepValues.reduce((sum, value) => sum + value, 0), stepValues, missing: null };
    }
    default:
      throw new RewardError(
        'INVALID_ARGUMENT',
        `outcome is ${JSON.stringify(outcome) ?? 'undefined'}, must be { scope: 'episode', value } or { scope: 'step', values }`,
      );
  }
}

function requireFinite(value: unknown, what: string): void {
  if (typeof value === 'number' && Number.isFinite(value)) return;
  const shown = typeof value === 'number' ? String(value) : JSON.stringify(value);
  throw new RewardError('INVALID_ARGUMENT', `${what} is ${shown}, must be finite or null`);
}
