import type { Recipe } from '@retrace/config';

/**
 * Runs the recipe's files with rewards before anything is started, so that what is wrong with one is a sentence at the
 * terminal and not a role that fails.
 *
 * @throws ScoringError `MODULE_INVALID`; RewardError for options that a file's reward doesn't take
 */
export async function assertRewardModulesLoad({ reward }: Recipe): Promise<void> {
  if (reward.components.every(({ module }) => module === undefined)) return;
  const { RewardScorer } = await import('@retrace/scoring');
  await RewardScorer.load(reward);
}
