import type { StoreClient } from '@retrace/store';
import { placeRewards, type RewardInputs, type TokenRewards } from './token-rewards.js';
import type { RewardDefinition } from './reward-scorer.js';
import { readScores } from './reward-versions.js';

interface StoredRewardsOptions {
  readonly runId: string;
  /** Reward version, as `findVersion` gives it. */
  readonly version: string;
  /** How they reach the tokens. */
  readonly allocation: Pick<RewardDefinition, 'allocation' | 'allocationGamma'>;
}

/** The scores that episodes of a run have under a reward version, as rewards of a batch. An episode without a score has no reward. */
export class StoredRewards {
  readonly readsTexts = false;

  constructor(
    private readonly client: StoreClient,
    private readonly options: StoredRewardsOptions,
  ) {}

  async score(inputs: RewardInputs): Promise<TokenRewards> {
    const { runId, version, allocation } = this.options;
    const { episodeIds, stepOffsets } = inputs.columns;
    const scores = await readScores(this.client, { runId, version, episodeIds });
    const scored = episodeIds.map((episodeId, e) => {
      const score = scores.get(episodeId);
      const stepRewards = Float64Array.from(score?.stepRewards ?? []);
      const isWhole = score !== undefined && stepRewards.length === stepOffsets[e + 1] - stepOffsets[e];
      const episodeReward = score?.episodeReward ?? 0;
      const total = isWhole ? stepRewards.reduce((sum, reward) => sum + reward, episodeReward) : null;
      return { total, episodeReward, stepRewards, components: [], fault: null };
    });
    return placeRewards({ ...inputs, recordedTotals: null }, scored, {
      names: [],
      weights: new Float32Array(0),
      allocation: { rule: allocation.allocation, gamma: allocation.allocationGamma },
    });
  }
}
