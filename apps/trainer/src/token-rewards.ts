import { createHash } from 'node:crypto';
import type { RewardRecipe } from '@retrace/config';
import type { EpisodeColumns, TokenBatch } from '@retrace/trajectory';

export interface TokenRewards {
  /** [A] Reward at each action token. */
  readonly rewards: Float32Array;
  /** [E] 0 for episodes with a missing reward: they are excluded from training, never counted as 0. */
  readonly trainedEpisodes: Uint8Array;
  readonly numMissing: number;
}

export function tokenRewards(
  columns: EpisodeColumns,
  batch: TokenBatch,
  _recipe: RewardRecipe,
): TokenRewards {
  const rewards = new Float32Array(batch.actionTokens.length);
  const numEpisodes = columns.episodeIds.length;
  const trainedEpisodes = new Uint8Array(numEpisodes).fill(1);
  let numMissing = 0;
  for (let e = 0; e < numEpisodes; e++) {
    for (let a = batch.episodeActionOffsets[e]; a < batch.episodeActionOffsets[e + 1]; a++) {
      const isLastOfStep =
        a + 1 === batch.episodeActionOffsets[e + 1] || batch.actionStep[a + 1] !== batch.actionStep[a];
      if (!isLastOfStep) continue;
      const reward = columns.rewards[columns.stepOffsets[e] + batch.actionStep[a]];
      if (Number.isNaN(reward)) {
        numMissing++;
        trainedEpisodes[e] = 0;
      } else rewards[a] = reward;
    }
  }
  return { rewards, trainedEpisodes, numMissing };
}

export function rewardVersionOf(recipe: RewardRecipe): string {
  return createHash('sha256').update(JSON.stringify(recipe)).digest('hex').slice(0, 16);
}
