import { getPolicyLoss, highEntropyTokens, proximalShares } from '@retrace/algorithms';
import { proximalPolicy, type Recipe } from '@retrace/config';
import type { EvaluatedTokens } from '../engine/update-engine.js';
import type { TokenAdvantages } from './advantages.js';
import type { UpdateColumns } from './mini-batches.js';
import { episodeWeights, type PlannedWeights } from './batch-origins.js';
import type { ReadBatch } from './read-batch.js';
import type { RolloutCorrection } from './rollout-correction.js';
import { episodeOfSequence, gather, positionsOf, scatter } from './token-columns.js';

interface SequencesToTrain {
  readonly read: Pick<ReadBatch, 'batch' | 'groupIds'>;
  /** [N] 1 = an action token that this update trains. */
  readonly trained: Uint8Array;
  readonly credit: Pick<TokenAdvantages, 'advantages' | 'returns'>;
  /** At the start of the update. */
  readonly proximal: EvaluatedTokens;
  /** [E] How often each episode is trained; null: once. */
  readonly copies: Int32Array | null;
  /** Its importance weights of the sampler. */
  readonly plan: PlannedWeights;
  /** The version that the update starts from. */
  readonly policyVersionIn: number;
  /** [N]; null where the loss has no KL term. */
  readonly referenceLogprobs: Float32Array | null;
  readonly correction: Pick<RolloutCorrection, 'keep' | 'weights'> | null;
}

/** The columns that mini-batches are made of, all over the tokens of the batch. */
export function updateColumns(
  recipe: Pick<Recipe, 'advantage' | 'loss'>,
  {
    read,
    trained,
    credit,
    proximal,
    copies,
    plan,
    policyVersionIn,
    referenceLogprobs,
    correction,
  }: SequencesToTrain,
): UpdateColumns {
  const { batch, groupIds } = read;
  const { behaviorLogprobs } = batch;
  const atTokens = (column: Float32Array) => scatter(column, batch.actionTokens, batch.tokenIds.length);
  const { topEntropyFraction } = recipe.loss;
  const weights = withEpisodeWeights(correction?.weights ?? null, batch, episodeWeights(plan));
  const proximalName = proximalPolicy(recipe);
  const positions = positionsOf(trained);
  const episodes = episodeOfSequence(batch);
  return {
    tokenIds: batch.tokenIds,
    sequenceOffsets: batch.sequenceOffsets,
    sequenceGroups: episodes.map((e) => groupIds[e]),
    sequenceCopies: copies && episodes.map((e) => copies[e]),
    trainedMask: trained,
    keptMask: correction?.keep ?? null,
    importanceWeights: topEntropyFraction
      ? weightsAtHighEntropy(weights, { entropies: proximal.entropies, positions, topEntropyFraction })
      : weights,
    advantages: atTokens(credit.advantages),
    proximalLogprobs:
      proximalName === 'recomputed' ? proximal.logprobs : knownLogprobs(behaviorLogprobs, positions),
    proximalShares:
      proximalName === 'interpolated' ? sharesAt(positions, batch.policyVersions, policyVersionIn) : null,
    behaviorLogprobs: getPolicyLoss(recipe.loss.policyLoss).needsBehaviorLogprobs ? behaviorLogprobs : null,
    referenceLogprobs,
    returns: credit.returns && atTokens(credit.returns),
    proximalValues: proximal.values,
  };
}

/** [N] The logprobs; null where one is missing, which only imitation allows, since its loss has no ratio. */
function knownLogprobs(logprobs: Float32Array, positions: Int32Array): Float32Array | null {
  return positions.some((n) => Number.isNaN(logprobs[n])) ? null : logprobs;
}

/** [N] The token weights (null: 1), times the weight of the episode at its action tokens; unchanged where episodes have no weights. */
function withEpisodeWeights(
  weights: Float32Array | null,
  { tokenIds, actionTokens, episodeActionOffsets }: ReadBatch['batch'],
  ofEpisodes: Float64Array | null,
): Float32Array | null {
  if (ofEpisodes === null) return weights;
  const weighed = weights?.slice() ?? new Float32Array(tokenIds.length).fill(1);
  ofEpisodes.forEach((weight, e) => {
    for (let a = episodeActionOffsets[e]; a < episodeActionOffsets[e + 1]; a++)
      weighed[actionTokens[a]] *= weight;
  });
  return weighed;
}

interface EntropyChoice {
  /** [N] At the start of the update. */
  readonly entropies: Float32Array;
  /** Of the action tokens that this update trains. */
  readonly positions: Int32Array;
  readonly topEntropyFraction: number;
}

/** [N] The weights, or 1, at the trained tokens of the highest entropy in the batch; 0 elsewhere. */
function weightsAtHighEntropy(
  weights: Float32Array | null,
  { entropies, positions, topEntropyFraction }: EntropyChoice,
): Float32Array {
  const chosen = highEntropyTokens(gather(entropies, positions), topEntropyFraction);
  const kept = Float32Array.from(positions, (n, i) => (chosen[i] === 1 ? (weights?.[n] ?? 1) : 0));
  return scatter(kept, positions, entropies.length);
}

/** [N] Shares of the way from the sampling policy to the current one at the trained tokens; 0 elsewhere. */
function sharesAt(positions: Int32Array, policyVersions: Int32Array, policyVersionIn: number): Float32Array {
  const ofTrained = positions.map((n) => policyVersions[n]);
  return scatter(proximalShares(ofTrained, policyVersionIn), positions, policyVersions.length);
}
