import { AlgorithmError } from '../errors.js';
import { excludeEpisodes } from './exclude-episodes.js';
import { checkGroupIds, checkMask, checkOffsets } from '../layout/check.js';
import type { AdvantageBatch } from './advantage-batch.js';
import {
  NamedRegistry,
  optionFault,
  withDefaults,
  type OptionSchema,
  type OptionsOf,
} from '../registry/index.js';

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
  /** Targets of a critic `[N]`; null for estimators without one. */
  readonly returns: Float32Array | null;
  /** Figures to log, such as group counts. */
  readonly statistics: Readonly<Record<string, number>>;
  /** Sentences for the user about this batch; mostly empty. */
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
