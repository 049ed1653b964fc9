import type { RewardInputs, RewardScorer, TokenRewards } from '@retrace/scoring';
import { episodesToTrain, greedyReturns } from './greedy-baselines.js';
import type { ReadBatch } from './read-batch.js';
import { countMarked } from './token-columns.js';

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
 * @param read its `baselines` and `broken` episodes
 * @throws TrainerError `NO_GREEDY_BASELINE`
 * @throws ScoringError `REWARD_CHANGED` where an episode's total is not the recorded one
 */
export async function scoreRewards(
  rewards: Pick<RewardScorer, 'score'>,
  inputs: RewardInputs,
  { baselines, broken }: Pick<ReadBatch, 'baselines' | 'broken'>,
): Promise<ScoredRewards> {
  const scored = await rewards.score(inputs);
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
      actionOffsets: inputs.batch.episodeActionOffsets,
      baselines,
      hasBaseline: greedy?.isKnown ?? null,
    }),
  };
}
