import { getPolicyLoss } from '@retrace/algorithms';
import {
  initialKlCoefficient,
  policyLossOptions,
  type OptimizerRecipe,
  type PreferenceRecipe,
  type Recipe,
} from '@retrace/config';
import type { StepLoss } from '../../engine/update-engine.js';
import { distillationTerm } from '../distillation.js';
import type { CriticPass, StepOptions } from './optimizer-steps.js';
import type { PreferenceStepOptions } from './preference-steps.js';
import type { StepGuard } from './step-guard.js';

interface StepSettings {
  /** From 1, over all stages. */
  readonly updateNumber: number;
  readonly seed: number;
  /** β of this update. */
  readonly klCoefficient: number;
  /** Weight of the entropy bonus in this update. */
  readonly entropyCoefficient: number;
  readonly guard: StepGuard;
}

/** The optimizer steps of a policy update, as the recipe asks for them. */
export function policySteps(
  recipe: Recipe,
  { updateNumber, seed, klCoefficient, entropyCoefficient, guard }: StepSettings,
): StepOptions {
  const { loss, optimizer } = recipe;
  const ofBoth: StepLoss = {
    policyLoss: loss.policyLoss,
    policyLossOptions: { ...seeded(loss.policyLoss, seed), ...policyLossOptions(loss) },
    valueCoefficient: loss.valueCoefficient,
    entropyCoefficient,
    klCoefficient: hasKlInLoss(recipe) ? klCoefficient : 0,
    distillation: distillationTerm(recipe),
    ...regularizers(recipe),
  };
  return {
    learningRate: computeLearningRate(recipe, updateNumber),
    criticLearningRate: computeCriticLearningRate(recipe, updateNumber),
    seed,
    optimizer,
    loss: optimizer.critic ? { ...ofBoth, valueCoefficient: 0, trains: 'policy' } : ofBoth,
    critic: criticPass(recipe, ofBoth),
    trainsOnlyCritic: isCriticWarmup(recipe, updateNumber),
    aggregation: {
      aggregation: loss.aggregation,
      horizon: loss.horizon ?? null,
      denominator: loss.rolloutCorrection?.denominator ?? 'all',
    },
    guard,
  };
}

/** The steps of the critic where the recipe makes them apart; null where policy and critic share theirs. */
function criticPass({ optimizer }: Pick<Recipe, 'optimizer'>, ofBoth: StepLoss): CriticPass | null {
  const { critic } = optimizer;
  if (!critic) return null;
  const { epochs, maxGradientNorm, miniBatchActionTokens, miniBatchSequences } = critic;
  const isCutApart = typeof miniBatchActionTokens === 'number' || typeof miniBatchSequences === 'number';
  return {
    loss: {
      ...ofBoth,
      ...{ entropyCoefficient: 0, klCoefficient: 0, distillation: null },
      ...{ trains: 'critic', recordsTokens: false },
    },
    optimizer: {
      epochs: epochs ?? optimizer.epochs,
      maxGradientNorm: maxGradientNorm ?? optimizer.maxGradientNorm,
      miniBatchActionTokens: miniBatchActionTokens ?? optimizer.miniBatchActionTokens,
      miniBatchSequences: isCutApart ? miniBatchSequences : optimizer.miniBatchSequences,
    },
  };
}

/** Whether an update, counted over all stages, trains only the critic. */
function isCriticWarmup({ optimizer, imitation }: Recipe, updateNumber: number): boolean {
  const policyUpdate = updateNumber - (imitation?.numUpdates ?? 0);
  return policyUpdate <= (optimizer.critic?.numWarmupUpdates ?? 0);
}

/** The optimizer steps of an imitation update: cross entropy, every token with the same weight. */
export function imitationSteps(
  recipe: Recipe,
  { seed, guard }: Pick<StepSettings, 'seed' | 'guard'>,
): StepOptions {
  const { imitation, optimizer } = recipe;
  return {
    learningRate: imitation?.learningRate ?? optimizer.learningRate,
    // The critic learns nothing from demonstrations.
    criticLearningRate: null,
    seed,
    optimizer: { ...optimizer, epochs: imitation?.epochs ?? 1, ...imitationMiniBatches(recipe) },
    loss: {
      policyLoss: 'crossEntropy',
      policyLossOptions: {},
      valueCoefficient: 0,
      entropyCoefficient: 0,
      klCoefficient: 0,
      ...regularizers(recipe),
    },
    aggregation: { aggregation: 'tokenMean', horizon: null, denominator: 'all' },
    guard,
  };
}

function imitationMiniBatches({
  imitation,
}: Pick<Recipe, 'imitation'>): Partial<
  Pick<OptimizerRecipe, 'miniBatchActionTokens' | 'miniBatchSequences'>
> {
  const miniBatchActionTokens = imitation?.miniBatchActionTokens ?? null;
  return miniBatchActionTokens === null ? {} : { miniBatchActionTokens, miniBatchSequences: null };
}

/** The optimizer steps of an update by preference; its token loss has the gradient that the advantages say. */
export function preferenceSteps(
  recipe: Recipe,
  {
    updateNumber,
    seed,
    preference,
  }: Pick<StepSettings, 'updateNumber' | 'seed'> & { readonly preference: PreferenceRecipe },
): PreferenceStepOptions {
  return {
    learningRate: computeLearningRate(recipe, updateNumber),
    seed,
    preference,
    optimizer: recipe.optimizer,
    tokenLoss: {
      policyLoss: 'gpg',
      policyLossOptions: {},
      valueCoefficient: 0,
      entropyCoefficient: recipe.loss.entropyCoefficient,
      klCoefficient: 0,
      ...regularizers(recipe),
    },
  };
}

/**
 * Learning rate of update `index` of `total`: linear warm-up over the first `warmupFraction`, constant, and from
 * `decayStartFraction` a decay to `finalFraction` of the peak at the last update, along a line or half a cosine; the schedule `constant` has no
 * decay. A schedule by updates, never by wall time, so that runs are reproducible.
 *
 * @param index 0 … total − 1
 */
export function learningRateAt(optimizer: OptimizerRecipe, index: number, total: number): number {
  const { learningRate, schedule = 'linear', warmupFraction, decayStartFraction, finalFraction } = optimizer;
  const warmupUpdates = warmupFraction * total;
  if (index < warmupUpdates) return (learningRate * (index + 1)) / (Math.floor(warmupUpdates) + 1);
  const decayStart = decayStartFraction * total;
  if (schedule === 'constant' || index <= decayStart || total - 1 <= decayStart) return learningRate;
  const progress = (index - decayStart) / (total - 1 - decayStart);
  const fallen = schedule === 'cosine' ? (1 - Math.cos(Math.PI * progress)) / 2 : progress;
  return learningRate * (1 - (1 - finalFraction) * fallen);
}

function computeLearningRate({ optimizer, numUpdates, imitation }: Recipe, updateNumber: number): number {
  return learningRateAt(optimizer, updateNumber - 1 - (imitation?.numUpdates ?? 0), numUpdates);
}

/** The critic's rate follows the schedule of the policy's. */
function computeCriticLearningRate(recipe: Recipe, updateNumber: number): number | null {
  const { optimizer } = recipe;
  if (typeof optimizer.criticLearningRate !== 'number') return null;
  const ofCritic = { ...optimizer, learningRate: optimizer.criticLearningRate };
  return computeLearningRate({ ...recipe, optimizer: ofCritic }, updateNumber);
}

export function hasKlInLoss({ loss }: Pick<Recipe, 'loss'>): boolean {
  return loss.kl?.in !== 'reward' && initialKlCoefficient(loss) > 0;
}

/** Options that the losses of all updates share. */
function regularizers({
  loss,
  collection,
  updateTokens,
}: Recipe): Pick<
  StepLoss,
  'valueClip' | 'klEstimator' | 'klStraightThrough' | 'klBiasCorrection' | 'temperature' | 'recordsTokens'
> {
  return {
    valueClip: loss.valueClip ?? null,
    klEstimator: loss.kl?.estimator ?? 'k3',
    klStraightThrough: loss.kl?.straightThrough ?? false,
    klBiasCorrection: loss.kl?.biasCorrection ?? false,
    temperature: collection.temperature,
    recordsTokens: updateTokens ?? false,
  };
}

/** Losses with a random choice draw again in every update, and draw the same in its replay. */
function seeded(policyLoss: string, seed: number): { readonly seed?: number } {
  return 'seed' in getPolicyLoss(policyLoss).options ? { seed } : {};
}
