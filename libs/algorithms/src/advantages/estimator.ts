import { AlgorithmError } from '../errors.js';
import { excludeEpisodes } from './exclude-episodes.js';
import { checkGroupIds, checkMask, checkOffsets } from '../layout/check.js';
import type { AdvantageOutput } from '../layout/output.js';
import {
  NamedRegistry,
  optionFault,
  withDefaults,
  type OptionSchema,
  type OptionsOf,
} from '../registry/index.js';

/**
 * A whole batch as advantage estimators read it: episodes over *action tokens*. Estimators see the batch before it is
 * cut into micro-batches, so that statistics of groups and of the batch do not depend on the cut.
 */
export interface AdvantageBatch {
  /** Episodes over action tokens `[E + 1]`; an episode's sequences follow one another. */
  readonly offsets: Int32Array;
  /** Reward at each action token `[N]`: allocated, penalties and KL in it. The return of an episode is their sum. */
  readonly rewards: Float32Array;
  /** Group number of each episode `[E]`, each below E. */
  readonly groupIds: Int32Array;
  /**
   * 1 for episodes to leave out `[E]`: those whose reward is missing. No statistic sees them and their advantages are 0, as
   * if they were not there; what their columns hold is not read. Null: none.
   */
  readonly excluded?: Uint8Array | null;
  /** Critic's value of the state in which each token was chosen `[N]`. */
  readonly values?: Float32Array | null;
  /** 1 where the episode was cut by us `[E]`; null: none was. */
  readonly truncated?: Uint8Array | null;
  /** Critic's value after the last token `[E]`; read for truncated episodes. */
  readonly finalValues?: Float32Array | null;
  /** Q of each token `[N]`. */
  readonly qValues?: Float32Array | null;
  /** E_π Q in the state in which each token was chosen `[N]`. */
  readonly expectedQValues?: Float32Array | null;
  /** logπ of each token at the start of the update `[N]`. */
  readonly proximalLogprobs?: Float32Array | null;
  /** logπ of each token when it was sampled `[N]`. */
  readonly behaviorLogprobs?: Float32Array | null;
  /** Σ_v π_v² over the vocabulary at each token `[N]`. */
  readonly sumSquaredProbabilities?: Float32Array | null;
  /** Truncated importance weight of each token, where the update uses them `[N]`. */
  readonly rolloutWeights?: Float32Array | null;
  /** Episodes over steps `[E + 1]`. */
  readonly episodeSteps?: Int32Array | null;
  /** Steps over action tokens `[K + 1]`. */
  readonly stepOffsets?: Int32Array | null;
  /** Number of the state that each step stood in, −1 for none `[K]`. */
  readonly anchors?: Int32Array | null;
  /** Return of the greedy episode of each episode's group `[E]`. */
  readonly greedyReturns?: Float32Array | null;
  /** Return of each episode in each reward component, C arrays `[E]`. */
  readonly rewardComponents?: readonly Float32Array[] | null;
  /** Weight of each reward component `[C]`. */
  readonly componentWeights?: Float32Array | null;
  /** Role or environment of each episode `[E]`. */
  readonly roleIds?: Int32Array | null;
  /** Running mean return of each role, from the checkpoint. */
  readonly roleBaselines?: Float64Array | null;
  /**
   * Arrays to write to, for callers that come again and again; null: new ones. Read by `gae` without whitening and by the
   * estimators with one advantage an episode or a step; the others, and batches with excluded episodes, make new ones.
   */
  readonly output?: AdvantageOutput | null;
}

/** The inputs that only some estimators need. */
export type OptionalInput = Exclude<
  keyof AdvantageBatch,
  'offsets' | 'rewards' | 'groupIds' | 'excluded' | 'output'
>;

/** Where an input comes from, for the message when it is missing. */
export const INPUT_SOURCES: Readonly<Record<OptionalInput, string>> = {
  values: 'a critic',
  truncated: 'the end reasons of the episodes',
  finalValues: 'a critic',
  qValues: 'a Q head; with a value critic alone its traces are those of V-trace with λ: use vtrace',
  expectedQValues: 'a Q head',
  proximalLogprobs: 'the policy at the start of the update',
  behaviorLogprobs: 'the logprobs recorded at sampling',
  sumSquaredProbabilities: 'recording at sampling, or recomputing',
  rolloutWeights: 'rollout correction',
  episodeSteps: 'the recorded steps',
  stepOffsets: 'the recorded steps',
  anchors: 'an environment that offers anchors',
  greedyReturns: 'a greedy episode in each group, which the collector adds',
  rewardComponents: 'the breakdown of the reward composer',
  componentWeights: 'the recipe',
  roleIds: 'the roles or environments of the episodes',
  roleBaselines: 'the trainer state',
};

export interface AdvantageResult {
  /** One per action token `[N]`. */
  readonly advantages: Float32Array;
  /** What a critic learns from `[N]`; null for estimators without one. */
  readonly returns: Float32Array | null;
  /** What to log: group counts and the like. */
  readonly statistics: Readonly<Record<string, number>>;
  /** What the user should know about this batch; mostly empty. */
  readonly warnings?: readonly string[];
  /** State to keep for the next batch: the new `roleBaselines`. */
  readonly roleBaselines?: Float64Array;
}

export interface AdvantageEstimator<S extends OptionSchema = OptionSchema> {
  readonly name: string;
  /** Paper, equation. */
  readonly source: string;
  /** Whether it needs a critic: without one, a value coefficient in the recipe is a mistake. */
  readonly usesCritic: boolean;
  /** Whether it compares the episodes of a group: then groups of one teach nothing. */
  readonly usesGroups: boolean;
  /** Whether the advantages hold the ratio to the behavior policy: importance weights on top are refused. */
  readonly correctsForBehavior: boolean;
  readonly requires: readonly OptionalInput[];
  readonly options: S;
  /** Finds rewards that are not finite by itself, on its one way over them. */
  compute(batch: AdvantageBatch, options: OptionsOf<S>): AdvantageResult;
}

const registry = new NamedRegistry<AdvantageEstimator>({
  noun: 'advantage estimator',
  fault: (code, message) => new AlgorithmError(code, message),
});

/** Adds an advantage estimator; its name must be free. */
export function defineAdvantageEstimator<S extends OptionSchema>(
  estimator: AdvantageEstimator<S>,
): AdvantageEstimator<S> {
  registry.define(estimator as unknown as AdvantageEstimator);
  return estimator;
}

/** @throws AlgorithmError `UNKNOWN_NAME`, naming the near ones */
export function getAdvantageEstimator(name: string): AdvantageEstimator {
  return registry.get(name);
}

/** Names of all advantage estimators, sorted. */
export function listAdvantageEstimators(): string[] {
  return registry.names();
}

/**
 * Checks options of an estimator and fills in its defaults.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` naming the option, its value and its rule
 */
export function resolveAdvantageOptions<S extends OptionSchema>(
  estimator: AdvantageEstimator<S>,
  given: Readonly<Record<string, unknown>> = {},
): OptionsOf<S> {
  const fault = optionFault(estimator.options, given);
  if (fault !== null)
    throw new AlgorithmError('INVALID_ARGUMENT', `advantage estimator ${estimator.name}: ${fault}`);
  return withDefaults(estimator.options, given);
}

/**
 * Advantages of a batch by the estimator of that name.
 *
 * @throws AlgorithmError `UNKNOWN_NAME`; `MISSING_INPUT` for an input that the estimator requires and that is null;
 * `INVALID_ARGUMENT` for arrays that do not fit, values that are not finite (a missing reward is `excluded`), options that break their rule
 */
export function computeAdvantages(
  name: string,
  batch: AdvantageBatch,
  options: Readonly<Record<string, unknown>> = {},
): AdvantageResult {
  const estimator = getAdvantageEstimator(name);
  const resolved = resolveAdvantageOptions(estimator, options);
  checkOffsets('offsets', batch.offsets, batch.rewards.length);
  checkGroupIds('groupIds', batch.groupIds, batch.offsets.length - 1);
  for (const input of estimator.requires) {
    if ((batch[input] ?? null) === null) {
      throw new AlgorithmError(
        'MISSING_INPUT',
        `advantage estimator ${name} needs ${input} (from ${INPUT_SOURCES[input]}); it is null`,
      );
    }
  }
  if (batch.excluded) checkMask('excluded', batch.excluded, batch.offsets.length - 1);
  if (!batch.excluded?.includes(1)) return estimator.compute(batch, resolved);
  const remaining = excludeEpisodes(batch, batch.excluded);
  const result = estimator.compute(remaining.batch, resolved);
  return {
    ...result,
    advantages: remaining.restore(result.advantages),
    returns: result.returns && remaining.restore(result.returns),
  };
}

/**
 * An input that the estimator declares in `requires`, so that `computeAdvantages` has seen that it is there.
 *
 * @throws AlgorithmError `MISSING_INPUT` when an estimator is called directly without it
 */
export function requiredInput<K extends OptionalInput>(
  batch: AdvantageBatch,
  input: K,
): NonNullable<AdvantageBatch[K]> {
  const value = batch[input] ?? null;
  if (value === null) throw new AlgorithmError('MISSING_INPUT', `${input} is needed; it is null`);
  return value;
}
