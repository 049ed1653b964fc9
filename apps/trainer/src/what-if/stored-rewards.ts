import type { Recipe } from '@retrace/config';
import { findVersion, StoredRewards } from '@retrace/rewards/scoring';
import type { StoreClient } from '@retrace/store';

interface WantedVersion {
  readonly runId: string;
  readonly recipe: Recipe;
  /** Name, or the first characters of the hash. */
  readonly rewardVersion: string;
}

/** Reads the scores of a reward version, which reach the tokens as the rewards of the run do. @throws RewardError `VERSION_UNKNOWN` */
export async function storedRewards(
  client: StoreClient,
  { runId, recipe, rewardVersion }: WantedVersion,
): Promise<StoredRewards> {
  const { version } = await findVersion(client, runId, rewardVersion);
  return new StoredRewards(client, { runId, version, allocation: recipe.reward });
}
