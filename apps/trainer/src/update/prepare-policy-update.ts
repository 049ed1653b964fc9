import {
  applyKlPenalty,
  computeAdvantages,
  estimateKl,
  explainedVariance,
  getAdvantageEstimator,
  getPolicyLoss,
  numberGroups,
  type AdvantageBatch,
} from '@retrace/algorithms';
import { playsGreedyBaseline, proximalPolicy, type Recipe, type TrainerInput } from '@retrace/config';
import { multipliesInFloat32 } from '@retrace/compute';
import { buildTokenBatch, type TokenBatch } from '@retrace/trajectory';
import {
  episodesToTrain,
  greedyBaselines,
  greedyReturns,
  numberedAnchors,
  rolesOf,
  type Roles,
} from './advantage-inputs.js';
import { assertAccountedLogprobs, compareOnPolicy } from './behavior-check.js';
import type { UpdateInputs } from './compute-update.js';
import type { UpdateColumns } from './mini-batches.js';
import { correctRollout } from './rollout-correction.js';
import { finalValues, referenceLogprobs, scoreBatch } from './score-batch.js';
import { actionsOf, episodeOfSequence, firstOf, gather, scatter, shuffled } from './token-columns.js';
import { TrainerError } from '../trainer-error.js';

export interface PreparedUpdate {
  readonly columns: UpdateColumns;
  /** [E] Total reward of each episode; NaN where it is missing. */
  readonly episodeRewards: Float64Array;
  readonly numTrainedEpisodes: number;
  readonly numMissingRewards: number;
  /** Mean KL from the reference policy that the rewards were charged with; null where they were not. */
  readonly rewardKl: number | null;
  /** Running mean return of each role after this batch; null for estimators without. */
  readonly roleBaselines: Readonly<Record<string, number>> | null;
  readonly metrics: readonly (readonly [string, number])[];
  /** What the user should know about this batch; mostly empty. */
  readonly warnings: readonly string[];
}

/** What earlier updates left, as far as this one reads it. */
export interface PrepareOptions {
  readonly klCoefficient: number;
  readonly roleBaselines: Readonly<Record<string, number>>;
}

/**
 * Largest |ratio − 1| between trainer and collector on tokens that the current policy sampled: fifty times what runs show where
 * products are float32; with factors of 8 to 11 bits, equal contexts in unequal batches lie further apart.
 */
const onPolicyTolerance = () => (multipliesInFloat32() ? 1e-4 : 1e-3);
/** Updates that need no logprobs of their own compare those of this many action tokens only. */
const numTokensCompared = 256;

/**
 * From the stored episodes of a plan to the columns that the update trains on: sequences rebuilt from their deltas,
 * rewards allocated, values of the current critic, rollout correction, advantages, reference logprobs.
 *
 * @throws TrainerError `UNACCOUNTED_LOGPROBS` or `NOT_ON_POLICY`: such data is never trained on; `NO_GREEDY_BASELINE`
 */
export async function preparePolicyUpdate(
  options: UpdateInputs,
  { klCoefficient, roleBaselines }: PrepareOptions,
): Promise<PreparedUpdate> {
  const { plan, columns, recipe } = options;
  const batch = buildTokenBatch(columns);
  const baselines = playsGreedyBaseline(recipe) ? greedyBaselines(columns) : null;
  assertAccountedLogprobs(columns, batch, { temperature: recipe.collection.temperature, exempt: baselines });
  const sampled = baselines ? actionsOf(batch, not(baselines)) : batch.actionMask;
  const klInReward = recipe.loss.klIn === 'reward' && options.referenceWeights !== null;
  const scoresAll = readsProximalLogprobs(recipe) || klInReward;
  const scoredMask = scoresAll ? sampled : firstOf(sampled, numTokensCompared);
  const scored = await scoreBatch(options, batch, scoredMask);
  const ratio = compareOnPolicy(batch, scored.logprobs, plan.policyVersionIn, scoredMask);
  const mostDeviation = onPolicyTolerance();
  if (ratio.maxDeviation > mostDeviation) {
    throw new TrainerError(
      'NOT_ON_POLICY',
      `update ${plan.updateNumber}: the trainer's probability of a token that policy version ${plan.policyVersionIn} ` +
        `sampled differs from the collector's by ${ratio.maxDeviation.toExponential(2)}; must be within ${mostDeviation}`,
    );
  }
  const scoredRewards = await options.rewards.score({
    columns,
    batch,
    texts: options.texts,
    recordedTotals: options.recordedRewards,
  });
  const greedy = baselines && greedyReturns(columns, baselines, scoredRewards.totals);
  const trainedEpisodes = episodesToTrain({
    rewarded: scoredRewards.trainedEpisodes,
    actionOffsets: batch.episodeActionOffsets,
    baselines,
    hasBaseline: greedy?.isKnown ?? null,
  });
  const trained = actionsOf(batch, trainedEpisodes);
  const reference = await referenceLogprobs(options, batch, sampled);
  const atActions = (column: Float32Array) => gather(column, batch.actionTokens);
  const penalised =
    klInReward && reference
      ? withKlPenalty(recipe, {
          rewards: scoredRewards.rewards,
          proximalLogprobs: atActions(scored.logprobs),
          referenceLogprobs: atActions(reference),
          coefficient: klCoefficient,
          numTokens: sampled.reduce((sum, bit) => sum + bit, 0),
        })
      : null;
  const observesPolicies =
    scoresAll && (recipe.collection.maxStaleness > 0 || Boolean(recipe.loss.rolloutCorrection));
  const correction = observesPolicies
    ? correctRollout({
        batch,
        trained,
        proximalLogprobs: scored.logprobs,
        policyVersionIn: plan.policyVersionIn,
        recipe,
      })
    : null;
  const truncated = columns.endReasons.map((reason) => Number(reason === 1));
  const values = scored.values && atActions(scored.values);
  const roles = rolesFor(options, roleBaselines);
  const numbered = numberedAnchors(columns, recipe.advantage.anchorSimilarity);
  const given: Required<Pick<AdvantageBatch, TrainerInput>> = {
    values,
    truncated,
    finalValues: recipe.loss.valueCoefficient > 0 ? await finalValues(options, batch, truncated) : null,
    proximalLogprobs: scoresAll ? atActions(scored.logprobs) : null,
    behaviorLogprobs: atActions(batch.behaviorLogprobs),
    sumSquaredProbabilities: scored.sumSquaredProbabilities && atActions(scored.sumSquaredProbabilities),
    rolloutWeights: correction?.weights ? atActions(correction.weights) : null,
    episodeSteps: columns.stepOffsets,
    stepOffsets: scoredRewards.stepOffsets,
    anchors: numbered.anchors,
    greedyReturns: greedy?.returns ?? null,
    rewardComponents: scoredRewards.components,
    componentWeights: scoredRewards.componentWeights,
    roleIds: roles?.roleIds ?? null,
    roleBaselines: roles?.baselines ?? null,
  };
  const groupIds = numberGroups(columns.groupIds).groupIds;
  const result = computeAdvantages(
    recipe.advantage.estimator,
    {
      offsets: batch.episodeActionOffsets,
      rewards: penalised?.rewards ?? scoredRewards.rewards,
      groupIds,
      excluded: not(trainedEpisodes),
      ...given,
    },
    recipe.advantage.options,
  );
  const advantages = recipe.advantage.shuffle ? shuffled(result.advantages, plan.seed) : result.advantages;
  const scatterToTokens = (column: Float32Array) =>
    scatter(column, batch.actionTokens, batch.tokenIds.length);
  const trainedActions = Uint8Array.from(batch.actionTokens, (n) => trained[n]);
  return {
    columns: {
      tokenIds: batch.tokenIds,
      sequenceOffsets: batch.sequenceOffsets,
      sequenceGroups: episodeOfSequence(batch).map((e) => groupIds[e]),
      trainedMask: trained,
      keptMask: correction?.keep ?? null,
      rolloutWeights: correction?.weights ?? null,
      advantages: scatterToTokens(advantages),
      anchorLogprobs: proximalPolicy(recipe) === 'recomputed' ? scored.logprobs : batch.behaviorLogprobs,
      behaviorLogprobs: getPolicyLoss(recipe.loss.policyLoss).needsBehaviorLogprobs
        ? batch.behaviorLogprobs
        : null,
      referenceLogprobs: klInReward ? null : reference,
      returns: result.returns && scatterToTokens(result.returns),
      proximalValues: scored.values,
    },
    episodeRewards: scoredRewards.totals,
    numTrainedEpisodes: trainedEpisodes.reduce((sum, bit) => sum + bit, 0),
    numMissingRewards: scoredRewards.numMissing,
    rewardKl: penalised?.meanKl ?? null,
    roleBaselines: roles && result.roleBaselines ? named(roles, result.roleBaselines) : null,
    warnings: [...numbered.warnings, ...(result.warnings ?? []), ...(correction?.warnings ?? [])],
    metrics: [
      ['train/ratioMaxDeviation', ratio.maxDeviation],
      ['train/stalenessMax', maxStaleness(batch, plan.policyVersionIn)],
      [
        'train/explainedVariance',
        values && result.returns ? explainedVariance(values, result.returns, trainedActions) : Number.NaN,
      ],
      ['train/numEpisodes', columns.episodeIds.length],
      ['train/numActionTokens', batch.actionTokens.length],
      ['train/numMissingRewards', scoredRewards.numMissing],
      ...(penalised ? ([['train/kl', penalised.meanKl]] as const) : []),
      ...Object.entries(result.statistics).map(([name, value]) => [`train/${name}`, value] as const),
      ...(correction?.metrics ?? []),
    ],
  };
}

/** Whether the batch has to be scored whole by the policy that the update starts from. */
function readsProximalLogprobs(recipe: Recipe): boolean {
  const { requires } = getAdvantageEstimator(recipe.advantage.estimator);
  return (
    recipe.loss.valueCoefficient > 0 ||
    proximalPolicy(recipe) === 'recomputed' ||
    Boolean(recipe.loss.rolloutCorrection) ||
    requires.includes('proximalLogprobs')
  );
}

interface KlCharge {
  /** All at action tokens [A]. */
  readonly rewards: Float32Array;
  readonly proximalLogprobs: Float32Array;
  readonly referenceLogprobs: Float32Array;
  readonly coefficient: number;
  /** How many of them were sampled; the others have no KL. */
  readonly numTokens: number;
}

/** r_t − β·KL_t, with the logprobs before the update: it has no gradient. */
function withKlPenalty(recipe: Recipe, { numTokens, ...charge }: KlCharge) {
  const { klEstimator: estimator } = recipe.loss;
  const { values: kls } = estimateKl(charge.proximalLogprobs, charge.referenceLogprobs, { estimator });
  return {
    rewards: applyKlPenalty({ ...charge, estimator }),
    meanKl: kls.reduce((sum, kl) => sum + kl, 0) / Math.max(1, numTokens),
  };
}

/** Null for estimators that know no roles. */
function rolesFor({ recipe, texts }: UpdateInputs, baselines: PrepareOptions['roleBaselines']): Roles | null {
  const { requires } = getAdvantageEstimator(recipe.advantage.estimator);
  if (!requires.includes('roleIds') || !texts) return null;
  return rolesOf(texts, recipe.reward.sourceField, baselines);
}

function named({ names }: Roles, baselines: Float64Array): Record<string, number> {
  return Object.fromEntries(names.map((name, i) => [name, baselines[i]]));
}

function not(mask: Uint8Array): Uint8Array {
  return mask.map((bit) => 1 - bit);
}

function maxStaleness(batch: TokenBatch, policyVersionIn: number): number {
  let max = 0;
  for (const n of batch.actionTokens) max = Math.max(max, policyVersionIn - batch.policyVersions[n]);
  return max;
}
