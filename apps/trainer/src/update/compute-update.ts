import { adaptKlCoefficient, getAdvantageEstimator, getPolicyLoss } from '@retrace/algorithms';
import { policyLossOptions, type Recipe } from '@retrace/config';
import type { LossOptions } from '@retrace/policy';
import type { RewardScorer } from '@retrace/scoring';
import type { BatchPlanned, EpisodeColumns, FileRef, Json } from '@retrace/trajectory';
import type { EpisodeTexts } from '@retrace/store';
import { applyUpdate, type UpdateOutcome } from './apply-update.js';
import { imitationColumns } from './imitation.js';
import type { AggregationRule } from './loss-weights.js';
import { learningRateAt } from './learning-rate.js';
import type { PolicyState } from '../checkpoint/policy-state.js';
import { preparePolicyUpdate, type PreparedUpdate } from './prepare-policy-update.js';
import { readTrainerState, recordTrainerState } from './trainer-state.js';

export interface UpdateResult {
  readonly outcome: UpdateOutcome;
  /** Names and values that follow from the batch, the same in a replay. What was not measured is left out: none is NaN. */
  readonly metrics: readonly (readonly [string, number])[];
  readonly warnings: readonly string[];
  /** [E] Total reward of each episode, NaN where it was missing; null where rewards play no part. */
  readonly episodeRewards: Float64Array | null;
  /** What the next update starts from beside weights and optimizer; null where the recipe keeps nothing. */
  readonly trainerState: Json;
}

/** What an update needs; the same for the update itself and for its replay. */
export interface UpdateInputs {
  readonly plan: BatchPlanned;
  readonly columns: EpisodeColumns;
  /** [E]; null unless the rewards read texts. */
  readonly texts: readonly EpisodeTexts[] | null;
  readonly recipe: Recipe;
  readonly rewards: RewardScorer;
  /** Holds the weights and optimizer state that the plan starts from; changed by the update. */
  readonly policy: PolicyState;
  /** Weights of the reference policy; null when the recipe has no KL term. */
  readonly referenceWeights: FileRef | null;
  /** [E] Rewards that the update had when it was committed, for a replay; null where they are not known, or not yet. */
  readonly recordedRewards: Float64Array | null;
  /** What the update before left; null at the start. */
  readonly trainerState: Json;
}

/** Whether updates read what stands in the store as text, for their rewards or to tell roles apart. */
export function readsTexts({ advantage }: Recipe, rewards: RewardScorer): boolean {
  return rewards.readsTexts || getAdvantageEstimator(advantage.estimator).requires.includes('roleIds');
}

/** One planned update on its batch: a pure function of plan, batch, recipe and the policy state that goes in. */
export function computeUpdate(inputs: UpdateInputs): Promise<UpdateResult> {
  return inputs.plan.stage === 'imitation' ? imitationUpdate(inputs) : policyUpdate(inputs);
}

async function policyUpdate(inputs: UpdateInputs): Promise<UpdateResult> {
  const { plan, recipe, policy } = inputs;
  const imitationUpdates = recipe.imitation?.numUpdates ?? 0;
  const learningRate = learningRateAt(
    recipe.optimizer,
    plan.updateNumber - 1 - imitationUpdates,
    recipe.numUpdates,
  );
  const state = readTrainerState(inputs.trainerState);
  const klCoefficient = state.klCoefficient ?? recipe.loss.klCoefficient;
  const prepared = await preparePolicyUpdate(inputs, { klCoefficient, roleBaselines: state.roleBaselines });
  const outcome = await applyUpdate(policy.steps, prepared.columns, {
    learningRate,
    seed: plan.seed,
    loss: lossOptions(recipe, { seed: plan.seed, klCoefficient }),
    optimizer: recipe.optimizer,
    aggregation: aggregationRule(recipe),
  });
  return {
    outcome,
    episodeRewards: prepared.episodeRewards,
    warnings: [...prepared.warnings, ...trainedNothing(outcome, prepared)],
    trainerState: recordTrainerState({
      klCoefficient: nextKlCoefficient(recipe, { klCoefficient, prepared, outcome }),
      roleBaselines: { ...state.roleBaselines, ...prepared.roleBaselines },
    }),
    metrics: measured([
      ...outcomeMetrics(outcome, learningRate),
      ['train/clipFraction', outcome.clipFraction],
      ['train/approximateKl', outcome.approximateKl],
      ...(klInLoss(recipe) ? ([['train/kl', outcome.kl]] as const) : []),
      ...(recipe.loss.adaptiveKl ? ([['train/klCoefficient', klCoefficient]] as const) : []),
      ...prepared.metrics,
    ]),
  };
}

async function imitationUpdate({
  plan,
  columns,
  recipe,
  policy,
  trainerState,
}: UpdateInputs): Promise<UpdateResult> {
  const learningRate = recipe.imitation?.learningRate ?? recipe.optimizer.learningRate;
  const outcome = await applyUpdate(policy.steps, imitationColumns(columns), {
    learningRate,
    seed: plan.seed,
    loss: {
      ...lossOptions(recipe, { seed: plan.seed, klCoefficient: 0 }),
      policyLoss: 'crossEntropy',
      policyLossOptions: {},
      valueCoefficient: 0,
      entropyCoefficient: 0,
    },
    optimizer: { ...recipe.optimizer, epochs: 1 },
    aggregation: { aggregation: 'tokenMean', horizon: null, denominator: 'all' },
  });
  return {
    outcome,
    episodeRewards: null,
    trainerState,
    warnings: [],
    metrics: measured(outcomeMetrics(outcome, learningRate)),
  };
}

function measured(metrics: UpdateResult['metrics']): UpdateResult['metrics'] {
  return metrics.filter(([, value]) => !Number.isNaN(value));
}

/** Such an update commits the weights and the optimizer state that it started from. */
function trainedNothing(
  { numOptimizerSteps }: UpdateOutcome,
  { episodeRewards, numMissingRewards }: PreparedUpdate,
): string[] {
  if (numOptimizerSteps > 0) return [];
  return [
    `nothing was trained, the policy stays as it was: of ${episodeRewards.length} episodes none has both a reward and action ` +
      `tokens to train (${numMissingRewards} without a reward)`,
  ];
}

/** What imitation has as well. */
function outcomeMetrics(outcome: UpdateOutcome, learningRate: number) {
  return [
    ['train/loss', outcome.loss],
    ['train/policyLoss', outcome.policyLoss],
    ['train/valueLoss', outcome.valueLoss],
    ['train/entropy', outcome.entropy],
    ['train/gradientNorm', outcome.gradientNorm],
    ['train/learningRate', learningRate],
  ] as const;
}

/** Losses that choose at random choose anew in every update, and the same in its replay. */
function seeded(policyLoss: string, seed: number): { readonly seed?: number } {
  return 'seed' in getPolicyLoss(policyLoss).options ? { seed } : {};
}

function klInLoss({ loss }: Recipe): boolean {
  return loss.klIn !== 'reward' && loss.klCoefficient > 0;
}

/** β for the next update; null where it stays what the recipe says. */
function nextKlCoefficient(
  { loss }: Recipe,
  last: {
    readonly klCoefficient: number;
    readonly prepared: PreparedUpdate;
    readonly outcome: UpdateOutcome;
  },
): number | null {
  if (!loss.adaptiveKl) return null;
  const { klCoefficient, prepared, outcome } = last;
  const meanKl = prepared.rewardKl ?? outcome.kl;
  // An update that trained nothing measured nothing.
  const numSamples = Number.isFinite(meanKl) ? prepared.numTrainedEpisodes : 0;
  return adaptKlCoefficient(
    klCoefficient,
    { meanKl: numSamples > 0 ? meanKl : 0, numSamples },
    loss.adaptiveKl,
  );
}

function aggregationRule({ loss }: Recipe): AggregationRule {
  return {
    aggregation: loss.aggregation,
    horizon: loss.horizon ?? null,
    denominator: loss.rolloutCorrection?.denominator ?? 'all',
  };
}

function lossOptions(
  recipe: Recipe,
  { seed, klCoefficient }: { readonly seed: number; readonly klCoefficient: number },
): LossOptions {
  const { loss, collection, optimizer } = recipe;
  return {
    policyLoss: loss.policyLoss,
    policyLossOptions: { ...seeded(loss.policyLoss, seed), ...policyLossOptions(loss) },
    valueCoefficient: loss.valueCoefficient,
    valueClip: loss.valueClip,
    entropyCoefficient: loss.entropyCoefficient,
    klCoefficient: klInLoss(recipe) ? klCoefficient : 0,
    klEstimator: loss.klEstimator,
    klStraightThrough: loss.klStraightThrough ?? false,
    temperature: collection.temperature,
    maxTokensPerMicroBatch: optimizer.maxTokensPerMicroBatch,
    recomputeLayers: optimizer.recomputeLayers ?? false,
  };
}
