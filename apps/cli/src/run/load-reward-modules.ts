import type { Recipe } from '@retrace/config';

/**
 * Loads the recipe's reward modules before anything starts, so that a fault in one is reported at once instead of by a role
 * that keeps failing.
 *
 * @throws ScoringError `MODULE_INVALID`; RewardError for options that a file's reward doesn't take
 */
export async function assertRewardModulesLoad({ reward }: Recipe): Promise<void> {
  if (reward.components.every(({ module }) => module === undefined)) return;
  const { RewardScorer } = await import('@retrace/scoring');
  await RewardScorer.load(reward);
}
