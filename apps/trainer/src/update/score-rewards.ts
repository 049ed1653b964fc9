import type { RewardInputs, RewardScorer, TokenRewards } from '@retrace/scoring';
import { episodesToTrain, greedyReturns } from './greedy-baselines.js';

/** Rewards of a batch, and which of its episodes can be trained with them. */
export interface ScoredRewards extends TokenRewards {
  /** [E] 1 for episodes with a reward and action tokens, and a known baseline where the estimator compares with one. */
  readonly episodesToTrain: Uint8Array;
  /** [E] Return of the greedy episode of each episode's group; null where none was played. */
  readonly greedyReturns: Float32Array | null;
}

/**
 * Scores the rewards of a batch and allocates them to its action tokens.
 *
 * @param baselines [E] 1 for greedy episodes, only to be compared with; null where none was played
 * @throws TrainerError `NO_GREEDY_BASELINE`
 * @throws ScoringError `REWARD_CHANGED` where an episode's total is not the recorded one
 */
export async function scoreRewards(
  rewards: Pick<RewardScorer, 'score'>,
  inputs: RewardInputs,
  baselines: Uint8Array | null,
): Promise<ScoredRewards> {
  const scored = await rewards.score(inputs);
  const greedy = baselines && greedyReturns(inputs.columns, baselines, scored.totals);
  return {
    ...scored,
    greedyReturns: greedy?.returns ?? null,
    episodesToTrain: episodesToTrain({
      rewarded: scored.trainedEpisodes,
      actionOffsets: inputs.batch.episodeActionOffsets,
      baselines,
      hasBaseline: greedy?.isKnown ?? null,
    }),
  };
}
