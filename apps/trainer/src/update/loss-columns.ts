import {
  getPolicyLoss,
  highEntropyTokens,
  proximalShares,
  resamplingWeights,
  type ResamplingOptions,
} from '@retrace/algorithms';
import { proximalPolicy, type Recipe } from '@retrace/config';
import type { LossColumns, SequenceBatch, TeacherTop } from '@retrace/policy';
import { Pcg32 } from '@retrace/random';
import type { BatchPlanned } from '@retrace/trajectory';
import { episodeOfSequence, gather, listPositions, scatter, type EvaluatedActions } from './action-tokens.js';
import type { TokenAdvantages } from './advantages.js';
import type { UpdateBatch } from './read-batch.js';
import type { ScoredRewards } from './rewards.js';
import type { RolloutCorrection } from './rollout-correction.js';

/** Whole sequences [N] that an update trains, and the columns [A] that the loss reads of their action tokens. */
export interface UpdateColumns extends SequenceBatch, LossColumns {
  /** [A] Positions of the action tokens in [0, N), ascending. */
  readonly actionTokens: Int32Array;
  /** [S + 1] Sequences over the action tokens. */
  readonly sequenceActionOffsets: Int32Array;
  /** [S] Group number of each sequence. */
  readonly sequenceGroups: Int32Array;
  /** [S] How often each sequence is trained in an epoch; null: once. */
  readonly sequenceCopies: Int32Array | null;
  /** [A] 1 = this update trains it. */
  readonly trainedMask: Uint8Array;
  /** [A] 0 at trained tokens that rollout correction rejected; null: none was. */
  readonly keptMask: Uint8Array | null;
  /** The teacher's likeliest tokens at the action tokens [A]; null or absent without them. */
  readonly teacherTop?: TeacherTop | null;
}

interface TokensToTrain {
  readonly batch: Pick<
    UpdateBatch,
    'tokens' | 'sequenceActionOffsets' | 'groupIds' | 'behaviorLogprobs' | 'policyVersions'
  >;
  /** [A] 1 = this update trains it. */
  readonly trained: Uint8Array;
  readonly advantages: Pick<TokenAdvantages, 'advantages' | 'returns'>;
  /** At the start of the update. */
  readonly proximal: EvaluatedActions;
  /** [E] How often each episode is trained; null: once. */
  readonly copies: Int32Array | null;
  /** Its importance weights of the sampler. */
  readonly plan: PlannedWeights;
  /** The version that the update starts from. */
  readonly policyVersionIn: number;
  /** [A]; null where the loss has no KL term. */
  readonly referenceLogprobs: Float32Array | null;
  /** At the action tokens [A]; null or absent without them. */
  readonly teacherTop?: TeacherTop | null;
  readonly correction: Pick<RolloutCorrection, 'keep' | 'weights'> | null;
}

/** The columns that mini-batches are made of. */
export function updateColumns(
  recipe: Pick<Recipe, 'advantage' | 'loss'>,
  {
    batch,
    trained,
    advantages,
    proximal,
    copies,
    plan,
    policyVersionIn,
    referenceLogprobs,
    teacherTop = null,
    correction,
  }: TokensToTrain,
): UpdateColumns {
  const { tokens, groupIds, behaviorLogprobs, policyVersions, sequenceActionOffsets } = batch;
  const { topEntropyFraction } = recipe.loss;
  const weights = withEpisodeWeights(
    correction?.weights ?? null,
    tokens.episodeActionOffsets,
    episodeWeights(plan),
  );
  const proximalName = proximalPolicy(recipe);
  const positions = listPositions(trained);
  const episodes = episodeOfSequence(tokens);
  return {
    tokenIds: tokens.tokenIds,
    sequenceOffsets: tokens.sequenceOffsets,
    actionTokens: tokens.actionTokens,
    sequenceActionOffsets,
    sequenceGroups: episodes.map((e) => groupIds[e]),
    sequenceCopies: copies && episodes.map((e) => copies[e]),
    trainedMask: trained,
    keptMask: correction?.keep ?? null,
    teacherTop,
    importanceWeights: topEntropyFraction
      ? weightsAtHighEntropy(weights, { entropies: proximal.entropies, positions, topEntropyFraction })
      : weights,
    advantages: advantages.advantages,
    proximalLogprobs:
      proximalName === 'recomputed' ? proximal.logprobs : knownLogprobs(behaviorLogprobs, positions),
    proximalShares:
      proximalName === 'interpolated' ? sharesAt(positions, policyVersions, policyVersionIn) : null,
    behaviorLogprobs: getPolicyLoss(recipe.loss.policyLoss).needsBehaviorLogprobs ? behaviorLogprobs : null,
    referenceLogprobs,
    returns: advantages.returns,
    proximalValues: proximal.values,
  };
}

/** [A] The logprobs; null where one is missing, which only imitation allows, since its loss has no ratio. */
function knownLogprobs(logprobs: Float32Array, positions: Int32Array): Float32Array | null {
  return positions.some((a) => Number.isNaN(logprobs[a])) ? null : logprobs;
}

/** The importance weights of a plan's groups. */
type PlannedWeights = Pick<BatchPlanned, 'episodeGroups' | 'groupWeights'>;

/** [E] Importance weights of the sampler; null where it has none. */
function episodeWeights({ episodeGroups, groupWeights }: PlannedWeights): Float64Array | null {
  if (episodeGroups === null || groupWeights === null) return null;
  return Float64Array.from(episodeGroups, (g) => groupWeights[g]);
}

/** [A] The token weights (null: 1), times the weight of the episode; unchanged where episodes have no weights. */
function withEpisodeWeights(
  weights: Float32Array | null,
  episodeActionOffsets: Int32Array,
  ofEpisodes: Float64Array | null,
): Float32Array | null {
  if (ofEpisodes === null) return weights;
  const weighed = weights?.slice() ?? new Float32Array(episodeActionOffsets[ofEpisodes.length]).fill(1);
  ofEpisodes.forEach((weight, e) => {
    for (let a = episodeActionOffsets[e]; a < episodeActionOffsets[e + 1]; a++) weighed[a] *= weight;
  });
  return weighed;
}

interface EntropyChoice {
  /** [A] At the start of the update. */
  readonly entropies: Float32Array;
  /** Of the action tokens that this update trains. */
  readonly positions: Int32Array;
  readonly topEntropyFraction: number;
}

/** [A] The weights, or 1, at the trained tokens of the highest entropy in the batch; 0 elsewhere. */
function weightsAtHighEntropy(
  weights: Float32Array | null,
  { entropies, positions, topEntropyFraction }: EntropyChoice,
): Float32Array {
  const chosen = highEntropyTokens(gather(entropies, positions), topEntropyFraction);
  const kept = Float32Array.from(positions, (a, i) => (chosen[i] === 1 ? (weights?.[a] ?? 1) : 0));
  return scatter(kept, positions, entropies.length);
}

/** [A] Shares of the way from the sampling policy to the current one at the trained tokens; 0 elsewhere. */
function sharesAt(positions: Int32Array, policyVersions: Int32Array, policyVersionIn: number): Float32Array {
  const ofTrained = positions.map((a) => policyVersions[a]);
  return scatter(proximalShares(ofTrained, policyVersionIn), positions, policyVersions.length);
}

/** Separates these draws from the stream that shuffles advantages. */
const STREAM = 2;

/**
 * [E] How often each episode is trained: as many episodes as there are to train are drawn from them with replacement, by their
 * returns and the seed.
 */
export function resampleEpisodes(
  { totals, episodesToTrain }: Pick<ScoredRewards, 'totals' | 'episodesToTrain'>,
  options: ResamplingOptions,
  seed: number,
): Int32Array {
  const episodes = Int32Array.from(episodesToTrain.keys()).filter((e) => episodesToTrain[e] === 1);
  const weights = resamplingWeights(
    Float64Array.from(episodes, (e) => totals[e]),
    options,
  );
  const ends = weights.slice();
  for (let i = 1; i < ends.length; i++) ends[i] += ends[i - 1];
  const random = new Pcg32(seed, STREAM);
  const copies = new Int32Array(totals.length);
  episodes.forEach(() => {
    const at = random.nextFloat() * ends[ends.length - 1];
    copies[episodes[ends.findIndex((end) => at < end)]] += 1;
  });
  return copies;
}
