import { AlgorithmError } from '../errors.js';
import { excludeEpisodes } from './exclude-episodes.js';
import { checkGroupIds, checkLength, checkMask, checkOffsets } from '../layout/check.js';
import type { AdvantageBatch, Columns } from './advantage-batch.js';
import { NamedRegistry, resolveOptions, type OptionSchema, type OptionsOf } from '../registry/index.js';

/** The inputs that only some estimators need. */
export type OptionalInput = Exclude<
  keyof AdvantageBatch,
  'offsets' | 'rewards' | 'groupIds' | 'excluded' | 'output'
>;

/** Source of each input, for the message when it is missing. */
const INPUT_SOURCES: Readonly<Record<OptionalInput, string>> = {
  values: 'a critic',
  truncated: 'the end reasons of the episodes',
  finalValues: 'a critic',
  proximalLogprobs: 'the policy at the start of the update',
  behaviorLogprobs: 'the logprobs recorded at sampling',
  sumSquaredProbabilities: 'recording at sampling, or recomputing',
  importanceWeights: 'rollout correction',
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
  /** Targets of the critic `[N]`; null for estimators without one. */
  readonly returns: Float32Array | null;
  /** Figures to log, such as group counts. */
  readonly statistics: Readonly<Record<string, number>>;
  /** Messages to the user about this batch. */
  readonly warnings?: readonly string[];
  /** State to keep for the next batch: the new `roleBaselines`. */
  readonly roleBaselines?: Float64Array;
}

export interface AdvantageEstimator<
  S extends OptionSchema = OptionSchema,
  R extends OptionalInput = OptionalInput,
> {
  readonly name: string;
  /** Paper, equation. */
  readonly source: string;
  /** Whether it needs a critic: without one, a value coefficient in the recipe is a mistake. */
  readonly usesCritic: boolean;
  /** Whether it compares the episodes of a group; if so, groups of one give no signal. */
  readonly usesGroups: boolean;
  /** Whether the advantages contain the ratio to the behavior policy; then importance weights are refused. */
  readonly correctsForBehavior: boolean;
  /** Whether the advantages are weights of imitation, which only the loss `gpg` takes as such; no behavior logprob is read (default false). */
  readonly weighsImitation?: boolean;
  /** Inputs that `compute` reads and that must not be null. */
  readonly requires: readonly R[];
  readonly options: S;
  /** Also refuses rewards that are not finite, which it finds in its one pass over them. */
  compute(batch: AdvantageBatch & Columns<R>, options: OptionsOf<S>): AdvantageResult;
}

const registry = new NamedRegistry<AdvantageEstimator>(
  'advantage estimator',
  (code, message) => new AlgorithmError(code, message),
);

/** @throws AlgorithmError `DUPLICATE_NAME` when the name is taken */
export function defineAdvantageEstimator<S extends OptionSchema, const R extends OptionalInput = never>(
  estimator: AdvantageEstimator<S, R>,
): void {
  registry.define(estimator as unknown as AdvantageEstimator);
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
  return resolveOptions(
    estimator.options,
    given,
    (fault) => new AlgorithmError('INVALID_ARGUMENT', `advantage estimator ${estimator.name}: ${fault}`),
  );
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
  checkSteps(batch);
  if (batch.excluded) checkMask('excluded', batch.excluded, batch.offsets.length - 1);
  if (!batch.excluded?.includes(1)) return estimator.compute(batch as CompleteBatch, resolved);
  const remaining = excludeEpisodes(batch, batch.excluded);
  const result = estimator.compute(remaining.batch as CompleteBatch, resolved);
  return {
    ...result,
    advantages: remaining.restore(result.advantages),
    returns: result.returns && remaining.restore(result.returns),
  };
}

/** Both ways to cut tokens into episodes must agree: `offsets`, and `stepOffsets` by `episodeSteps`. */
function checkSteps({ offsets, stepOffsets = null, episodeSteps = null }: AdvantageBatch): void {
  if (stepOffsets === null || episodeSteps === null) return;
  checkOffsets('stepOffsets', stepOffsets, offsets[offsets.length - 1]);
  checkOffsets('episodeSteps', episodeSteps, stepOffsets.length - 1);
  checkLength({ episodeSteps }, offsets.length);
  const wrong = offsets.findIndex((offset, episode) => offset !== stepOffsets[episodeSteps[episode]]);
  if (wrong === -1) return;
  throw new AlgorithmError(
    'INVALID_ARGUMENT',
    `offsets[${wrong}] is ${offsets[wrong]}, must be ${stepOffsets[episodeSteps[wrong]]}, where the steps of episode ${wrong} begin`,
  );
}

/** A batch after the check that the estimator's required inputs are there; it reads no others. */
type CompleteBatch = AdvantageBatch & Columns<OptionalInput>;
