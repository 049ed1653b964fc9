import {
  applyKlPenalty,
  computeAdvantages,
  estimateKl,
  explainedVariance,
  getPolicyLoss,
  numberAnchors,
  numberGroups,
  numberSimilarAnchors,
  type AdvantageBatch,
} from '@retrace/algorithms';
import type { TrainerInput } from '@retrace/config';
import { Pcg32 } from '@retrace/environments';
import { scoreTokens, valuesAtEnd } from '@retrace/policy';
import { buildTokenBatch, type EpisodeColumns, type TokenBatch } from '@retrace/trajectory';
import { assertAccountedLogprobs, compareOnPolicy } from './behavior-check.js';
import type { UpdateColumns } from './mini-batches.js';
import type { UpdateInputs } from './compute-update.js';
import { TrainerError } from './trainer-error.js';

export interface PreparedUpdate {
  readonly columns: UpdateColumns;
  /** [E] Total reward of each episode; NaN where it is missing. */
  readonly episodeRewards: Float64Array;
  readonly metrics: readonly (readonly [string, number])[];
  /** What the user should know about this batch; mostly empty. */
  readonly warnings: readonly string[];
}

/** Largest |ratio − 1| between trainer and collector on tokens that the current policy sampled. */
const onPolicyTolerance = 1e-3;
/** Critic-free updates compare the logprobs of this many action tokens only: the rest of the batch needs no scoring. */
const numTokensCompared = 256;

/**
 * From the stored episodes of a plan to the columns that the update trains on: sequences rebuilt from their deltas,
 * rewards allocated, values of the current critic, advantages, reference logprobs.
 *
 * @throws TrainerError `UNACCOUNTED_LOGPROBS` or `NOT_ON_POLICY`: such data is never trained on
 */
export async function preparePolicyUpdate(options: UpdateInputs): Promise<PreparedUpdate> {
  const { plan, columns, recipe } = options;
  const batch = buildTokenBatch(columns);
  assertAccountedLogprobs(columns, batch, recipe.collection.temperature);
  const usesCritic = recipe.loss.valueCoefficient > 0;
  const loss = getPolicyLoss(recipe.loss.policyLoss);
  const klInReward = recipe.loss.klIn === 'reward' && options.referenceWeights !== null;
  const scoresAll = usesCritic || loss.correctsForBehavior || klInReward;
  const scored = await scoreBatch(
    options,
    batch,
    scoresAll ? batch.actionMask : firstActions(batch, numTokensCompared),
  );
  const ratio = compareOnPolicy(batch, scored.logprobs, plan.policyVersionIn, scored.mask);
  if (ratio.maxDeviation > onPolicyTolerance) {
    throw new TrainerError(
      'NOT_ON_POLICY',
      `update ${plan.updateNumber}: the trainer's probability of a token that policy version ${plan.policyVersionIn} ` +
        `sampled differs from the collector's by ${ratio.maxDeviation.toExponential(2)}; must be within ${onPolicyTolerance}`,
    );
  }
  const truncated = columns.endReasons.map((reason) => Number(reason === 1));
  const scoredRewards = await options.rewards.score({
    columns,
    batch,
    texts: options.texts,
    recordedTotals: options.recordedRewards,
  });
  const { totals, numMissing, trainedEpisodes } = scoredRewards;
  const reference = await referenceLogprobs(options, batch);
  const penalised = klInReward && reference ? withKlPenalty(scoredRewards.rewards, reference) : null;
  /** r_t − β·KL_t, with the logprobs before the update: it has no gradient. */
  function withKlPenalty(rewards: Float32Array, ofReference: Float32Array) {
    const proximalLogprobs = gather(scored.logprobs, batch.actionTokens);
    const atActions = gather(ofReference, batch.actionTokens);
    const { klCoefficient: coefficient, klEstimator: estimator } = recipe.loss;
    const { values: kls } = estimateKl(proximalLogprobs, atActions, { estimator });
    return {
      rewards: applyKlPenalty({
        rewards,
        proximalLogprobs,
        referenceLogprobs: atActions,
        coefficient,
        estimator,
      }),
      meanKl: kls.reduce((sum, kl) => sum + kl, 0) / Math.max(1, kls.length),
    };
  }
  const values = scored.values && gather(scored.values, batch.actionTokens);
  const given: Required<Pick<AdvantageBatch, TrainerInput>> = {
    values,
    truncated,
    finalValues: usesCritic ? await finalValues(options, batch, truncated) : null,
    proximalLogprobs: scoresAll ? gather(scored.logprobs, batch.actionTokens) : null,
    behaviorLogprobs: gather(batch.behaviorLogprobs, batch.actionTokens),
    episodeSteps: columns.stepOffsets,
    stepOffsets: scoredRewards.stepOffsets,
    anchors: numberedAnchors(columns, recipe.advantage.anchorSimilarity),
    rewardComponents: scoredRewards.components,
    componentWeights: scoredRewards.componentWeights,
  };
  const result = computeAdvantages(
    recipe.advantage.estimator,
    {
      offsets: batch.episodeActionOffsets,
      rewards: penalised?.rewards ?? scoredRewards.rewards,
      groupIds: numberGroups(columns.groupIds).groupIds,
      excluded: trainedEpisodes.map((trained) => 1 - trained),
      ...given,
    },
    recipe.advantage.options,
  );
  const advantages = recipe.advantage.shuffle ? shuffled(result.advantages, plan.seed) : result.advantages;
  const numTokens = batch.tokenIds.length;
  const trained = trainedMask(batch, trainedEpisodes);
  const trainedActions = Uint8Array.from(batch.actionTokens, (n) => trained[n]);
  const scatterToTokens = (actionValues: Float32Array) =>
    scatter(actionValues, batch.actionTokens, numTokens);
  return {
    columns: {
      tokenIds: batch.tokenIds,
      sequenceOffsets: batch.sequenceOffsets,
      trainedMask: trained,
      advantages: scatterToTokens(advantages),
      // A loss that corrects for the behavior policy by itself clips against the policy that the update starts from.
      anchorLogprobs: loss.correctsForBehavior ? scored.logprobs : batch.behaviorLogprobs,
      behaviorLogprobs: loss.needsBehaviorLogprobs ? batch.behaviorLogprobs : null,
      referenceLogprobs: klInReward ? null : reference,
      returns: result.returns && scatterToTokens(result.returns),
      proximalValues: scored.values,
    },
    episodeRewards: totals,
    warnings: result.warnings ?? [],
    metrics: [
      ['train/ratioMaxDeviation', ratio.maxDeviation],
      ['train/stalenessMax', maxStaleness(batch, plan.policyVersionIn)],
      [
        'train/explainedVariance',
        values && result.returns ? explainedVariance(values, result.returns, trainedActions) : Number.NaN,
      ],
      ['train/numEpisodes', columns.episodeIds.length],
      ['train/numActionTokens', batch.actionTokens.length],
      ['train/numMissingRewards', numMissing],
      ...(penalised ? ([['train/kl', penalised.meanKl]] as const) : []),
      ...Object.entries(result.statistics).map(([name, value]) => [`train/${name}`, value] as const),
    ],
  };
}

/** [S] The state that each step stood in, equal numbers for equal or, with a threshold, similar ones of a group; −1 for none. */
function numberedAnchors(
  { anchors, groupIds, stepOffsets }: EpisodeColumns,
  similarity: number | undefined,
): Int32Array {
  if (similarity === undefined) return numberAnchors(anchors);
  const groupOfStep = new Int32Array(anchors.length);
  numberGroups(groupIds).groupIds.forEach((group, e) =>
    groupOfStep.fill(group, stepOffsets[e], stepOffsets[e + 1]),
  );
  return numberSimilarAnchors({ anchors, groupOfStep, threshold: similarity });
}

async function scoreBatch({ recipe, policy }: UpdateInputs, batch: TokenBatch, mask: Uint8Array) {
  const scores = await scoreTokens(policy.model, batch, {
    temperature: recipe.collection.temperature,
    maxTokensPerMicroBatch: recipe.optimizer.maxTokensPerMicroBatch,
    actionMask: mask,
  });
  return { ...scores, mask };
}

/** V(s_T) of truncated episodes, from their stored final observation; 0 for the others, which are not read. */
function finalValues(
  { policy, recipe }: UpdateInputs,
  batch: TokenBatch,
  truncated: Uint8Array,
): Promise<Float32Array> {
  const { tokenIds, sequenceOffsets } = batch.finalSequences;
  const kept = new Int32Array(sequenceOffsets.length);
  const parts: Int32Array[] = [];
  for (let e = 0; e < truncated.length; e++) {
    const part = truncated[e]
      ? tokenIds.subarray(sequenceOffsets[e], sequenceOffsets[e + 1])
      : new Int32Array(0);
    parts.push(part);
    kept[e + 1] = kept[e] + part.length;
  }
  const joined = new Int32Array(kept[truncated.length]);
  parts.forEach((part, e) => {
    joined.set(part, kept[e]);
  });
  return valuesAtEnd(
    policy.model,
    { tokenIds: joined, sequenceOffsets: kept },
    { maxTokensPerMicroBatch: recipe.optimizer.maxTokensPerMicroBatch },
  );
}

async function referenceLogprobs(options: UpdateInputs, batch: TokenBatch): Promise<Float32Array | null> {
  const { recipe, policy, referenceWeights } = options;
  if (!referenceWeights) return null;
  const scores = await scoreTokens(await policy.reference(referenceWeights), batch, {
    temperature: recipe.collection.temperature,
    maxTokensPerMicroBatch: recipe.optimizer.maxTokensPerMicroBatch,
    actionMask: batch.actionMask,
  });
  return scores.logprobs;
}

/** Mask [N] of the first `count` action tokens. */
function firstActions(batch: TokenBatch, count: number): Uint8Array {
  const mask = new Uint8Array(batch.tokenIds.length);
  for (const n of batch.actionTokens.subarray(0, count)) mask[n] = 1;
  return mask;
}

/** [N] 1 at the action tokens of episodes whose reward is complete. */
function trainedMask(batch: TokenBatch, trainedEpisodes: Uint8Array): Uint8Array {
  const mask = new Uint8Array(batch.tokenIds.length);
  for (let e = 0; e < trainedEpisodes.length; e++) {
    if (trainedEpisodes[e] === 0) continue;
    for (let a = batch.episodeActionOffsets[e]; a < batch.episodeActionOffsets[e + 1]; a++)
      mask[batch.actionTokens[a]] = 1;
  }
  return mask;
}

function maxStaleness(batch: TokenBatch, policyVersionIn: number): number {
  let staleness = 0;
  for (const n of batch.actionTokens)
    staleness = Math.max(staleness, policyVersionIn - batch.policyVersions[n]);
  return staleness;
}

function shuffled(values: Float32Array, seed: number): Float32Array {
  const random = new Pcg32(seed, 1);
  const result = values.slice();
  for (let i = result.length - 1; i > 0; i--) {
    const j = random.nextBelow(i + 1);
    [result[i], result[j]] = [result[j], result[i]];
  }
  return result;
}

function gather(values: Float32Array, positions: Int32Array): Float32Array {
  return Float32Array.from(positions, (n) => values[n]);
}

function scatter(values: Float32Array, positions: Int32Array, length: number): Float32Array {
  const result = new Float32Array(length);
  positions.forEach((n, a) => {
    result[n] = values[a];
  });
  return result;
}
