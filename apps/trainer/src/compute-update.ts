import { getPolicyLoss } from '@retrace/algorithms';
import { policyLossOptions, type Recipe } from '@retrace/config';
import type { LossOptions } from '@retrace/policy';
import type { RewardScorer } from '@retrace/scoring';
import type { BatchPlanned, EpisodeColumns, FileRef } from '@retrace/trajectory';
import type { EpisodeTexts } from '@retrace/trajectory/clickhouse';
import { applyUpdate, type UpdateOutcome } from './apply-update.js';
import { imitationColumns } from './imitation.js';
import { learningRateAt } from './learning-rate.js';
import type { PolicyState } from './policy-state.js';
import { preparePolicyUpdate } from './prepare-policy-update.js';

export interface UpdateResult {
  readonly outcome: UpdateOutcome;
  /** Names and values that follow from the batch, the same in a replay. */
  readonly metrics: readonly (readonly [string, number])[];
  readonly warnings: readonly string[];
  /** [E] Total reward of each episode, NaN where it was missing; null where rewards play no part. */
  readonly episodeRewards: Float64Array | null;
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
  const prepared = await preparePolicyUpdate(inputs);
  const outcome = await applyUpdate(policy.steps, prepared.columns, {
    learningRate,
    seed: plan.seed,
    loss: lossOptions(recipe, plan.seed),
    optimizer: recipe.optimizer,
    aggregation: recipe.loss.aggregation,
  });
  return {
    outcome,
    episodeRewards: prepared.episodeRewards,
    warnings: prepared.warnings,
    metrics: [
      ...outcomeMetrics(outcome, learningRate),
      ['train/clipFraction', outcome.clipFraction],
      ['train/approximateKl', outcome.approximateKl],
      ...(lossKlCoefficient(recipe) > 0 ? ([['train/kl', outcome.kl]] as const) : []),
      ...prepared.metrics,
    ],
  };
}

async function imitationUpdate({ plan, columns, recipe, policy }: UpdateInputs): Promise<UpdateResult> {
  const learningRate = recipe.imitation?.learningRate ?? recipe.optimizer.learningRate;
  const outcome = await applyUpdate(policy.steps, imitationColumns(columns), {
    learningRate,
    seed: plan.seed,
    loss: {
      ...lossOptions(recipe, plan.seed),
      policyLoss: 'crossEntropy',
      policyLossOptions: {},
      valueCoefficient: 0,
      entropyCoefficient: 0,
      klCoefficient: 0,
    },
    optimizer: { ...recipe.optimizer, epochs: 1 },
    aggregation: 'tokenMean',
  });
  return { outcome, episodeRewards: null, warnings: [], metrics: outcomeMetrics(outcome, learningRate) };
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

/** 0 where the KL counts in the reward. */
function lossKlCoefficient({ loss }: Recipe): number {
  return loss.klIn === 'reward' ? 0 : loss.klCoefficient;
}

function lossOptions(recipe: Recipe, seed: number): LossOptions {
  const { loss, collection, optimizer } = recipe;
  return {
    policyLoss: loss.policyLoss,
    policyLossOptions: { ...seeded(loss.policyLoss, seed), ...policyLossOptions(loss) },
    valueCoefficient: loss.valueCoefficient,
    valueClip: loss.valueClip,
    entropyCoefficient: loss.entropyCoefficient,
    klCoefficient: lossKlCoefficient(recipe),
    klEstimator: loss.klEstimator,
    temperature: collection.temperature,
    maxTokensPerMicroBatch: optimizer.maxTokensPerMicroBatch,
  };
}
