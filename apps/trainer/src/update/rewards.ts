import { applyKlPenalty, estimateKl, type KlEstimator } from '@retrace/algorithms';
import type { RewardInputs, RewardScorer, TokenRewards } from '@retrace/rewards/scoring';
import type { EpisodeColumns } from '@retrace/trajectory';
import { TrainerError } from '../trainer-error.js';
import { countMarked } from './action-tokens.js';
import type { UpdateBatch } from './read-batch.js';

/** Rewards of a batch, and which of its episodes can be trained with them. */
export interface ScoredRewards extends TokenRewards {
  /** [E] 1 for episodes with a reward and action tokens, and a known baseline where the estimator compares with one. */
  readonly episodesToTrain: Uint8Array;
  /** [E] Return of the greedy episode of each episode's group; null where none was played. */
  readonly greedyReturns: Float32Array | null;
}

/**
 * Scores the rewards of a batch and allocates them to its action tokens. The reward of an episode whose environment failed is missing, whatever its
 * steps came to.
 *
 * @throws TrainerError `NO_GREEDY_BASELINE`
 * @throws RewardError `REWARD_CHANGED` where an episode's total is not the recorded one
 */
export async function scoreRewards(
  rewards: Pick<RewardScorer, 'score'>,
  { baselines, broken, tokens }: Pick<UpdateBatch, 'baselines' | 'broken' | 'tokens'>,
  inputs: Omit<RewardInputs, 'batch'>,
): Promise<ScoredRewards> {
  const scored = await rewards.score({ ...inputs, batch: tokens });
  const totals = scored.totals.map((total, e) => (broken[e] === 1 ? NaN : total));
  const trainedEpisodes = scored.trainedEpisodes.map((bit, e) => bit & (1 - broken[e]));
  const greedy = baselines && greedyReturns(inputs.columns, baselines, totals);
  return {
    ...scored,
    totals,
    trainedEpisodes,
    numMissing: totals.length - countMarked(trainedEpisodes),
    greedyReturns: greedy?.returns ?? null,
    episodesToTrain: episodesToTrain({
      rewarded: trainedEpisodes,
      actionOffsets: tokens.episodeActionOffsets,
      baselines,
      hasBaseline: greedy?.isKnown ?? null,
    }),
  };
}

interface GreedyReturns {
  /** [E] Return of the greedy episode of each episode's group; 0 where there is none. */
  readonly returns: Float32Array;
  /** [E] 1 where the group has a greedy episode whose reward is there. */
  readonly isKnown: Uint8Array;
}

/**
 * Returns of the greedy episode of each group.
 *
 * @param totals [E] total rewards, NaN = missing
 * @throws TrainerError `NO_GREEDY_BASELINE` for a group without a greedy episode
 */
export function greedyReturns(
  { groupIds, stepOffsets }: Pick<EpisodeColumns, 'groupIds' | 'stepOffsets'>,
  baselines: Uint8Array,
  totals: Float64Array,
): GreedyReturns {
  const returnOf = new Map<string, number>();
  groupIds.forEach((groupId, e) => {
    if (baselines[e] === 1) returnOf.set(groupId, totals[e]);
  });
  // Only its steps show that an episode was greedy; one whose environment failed before the first step has no return.
  const withoutSteps = new Set(groupIds.filter((_, e) => stepOffsets[e + 1] === stepOffsets[e]));
  const missing = groupIds.find((groupId) => !returnOf.has(groupId) && !withoutSteps.has(groupId));
  if (missing !== undefined) {
    throw new TrainerError(
      'NO_GREEDY_BASELINE',
      `group ${missing} has no greedy episode; the estimator needs one in every group, whose return the others are compared with`,
    );
  }
  const returns = Float32Array.from(groupIds, (groupId) => returnOf.get(groupId) ?? NaN);
  return {
    returns: returns.map((value) => (Number.isNaN(value) ? 0 : value)),
    isKnown: Uint8Array.from(returns, (value) => Number(!Number.isNaN(value))),
  };
}

interface TrainableEpisodes {
  /** [E] 1 where the reward is there. */
  readonly rewarded: Uint8Array;
  /** [E + 1] Episodes over action tokens. */
  readonly actionOffsets: Int32Array;
  /** [E] 1 for greedy baselines; null where none was played. */
  readonly baselines: Uint8Array | null;
  /** [E] 1 where the return of the group's greedy baseline is known; null where none was played. */
  readonly hasBaseline: Uint8Array | null;
}

/**
 * [E] 1 for the episodes that an update trains; the others are no part of any group's statistics. An episode without action tokens is not trained:
 * its reward reaches no token, so its group would count it as 0.
 */
export function episodesToTrain({
  rewarded,
  actionOffsets,
  baselines,
  hasBaseline,
}: TrainableEpisodes): Uint8Array {
  return rewarded.map((isRewarded, e) => {
    const hasActions = actionOffsets[e + 1] > actionOffsets[e];
    return Number(isRewarded === 1 && hasActions && baselines?.[e] !== 1 && hasBaseline?.[e] !== 0);
  });
}

interface KlCharge {
  /** [A] logπ at the start of the update, so that the charge has no gradient. */
  readonly proximalLogprobs: Float32Array;
  /** [A] logπ of the reference policy; null where the KL is not charged to rewards. */
  readonly referenceLogprobs: Float32Array | null;
  /** β */
  readonly coefficient: number;
  readonly estimator: KlEstimator;
}

/** The rewards that advantages are estimated from. */
export interface RewardsWithKl {
  /** [A] */
  readonly rewards: Float32Array;
  /** Mean KL from the reference policy over the sampled tokens, where it was charged to the rewards; else null. */
  readonly meanKl: number | null;
  /** [A] That KL of each action token. */
  readonly kls: Float32Array | null;
}

/**
 * The reward of each action token: what scoring allocated to it, less β·KL_t where the KL is charged to rewards.
 *
 * @param rewards [A] as allocated
 */
export function chargeKl(
  rewards: Float32Array,
  { sampled }: Pick<UpdateBatch, 'sampled'>,
  { proximalLogprobs, referenceLogprobs, coefficient, estimator }: KlCharge,
): RewardsWithKl {
  if (referenceLogprobs === null) return { rewards, meanKl: null, kls: null };
  const { values: kls } = estimateKl(proximalLogprobs, referenceLogprobs, { estimator });
  return {
    rewards: applyKlPenalty({ rewards, proximalLogprobs, referenceLogprobs, coefficient, estimator }),
    meanKl: kls.reduce((sum, kl) => sum + kl, 0) / Math.max(1, countMarked(sampled)),
    kls,
  };
}
