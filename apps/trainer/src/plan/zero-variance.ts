import type { Recipe } from '@retrace/config';
import { groupsOfEqualReturns } from '@retrace/algorithms/sampling';
import type { RewardScorer } from '@retrace/rewards/scoring';
import { readBatch } from '../update/read-batch.js';
import type { ReadEpisodes } from './read-episodes.js';
import { scoreRewards } from '../update/rewards.js';
import { updateNeeds } from '../update/update-inputs.js';

/**
 * Finds the groups of a plan that would teach nothing: fewer than two of their episodes have a reward, or all their rewards are equal
 * (dynamic sampling of DAPO, arXiv:2503.14476, section 3.2).
 *
 * @returns places in the plan's `groupIds`
 * @throws TrainerError `UNACCOUNTED_LOGPROBS`
 */
export async function groupsWithoutVariance(
  { plan, columns, texts }: ReadEpisodes,
  { recipe, rewards }: { readonly recipe: Recipe; readonly rewards: RewardScorer },
): Promise<ReadonlySet<number>> {
  const { episodeGroups } = plan;
  if (episodeGroups === null) return new Set();
  const { temperature } = recipe.collection;
  const batch = readBatch(columns, { temperature, needs: updateNeeds(recipe, false) });
  const scored = await scoreRewards(rewards, batch, { columns, texts, recordedTotals: null });
  const returns = scored.totals.map((total, e) => (scored.episodesToTrain[e] === 1 ? total : NaN));
  return new Set(groupsOfEqualReturns(returns, episodeGroups));
}
