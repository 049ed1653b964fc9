import { allocateRewards, type AllocationOptions } from '../allocation/allocation.js';
import type { EpisodeReward } from '../composer.js';
import type { EpisodeColumns, TokenBatch } from '@retrace/trajectory';
import type { EpisodeTexts } from '@retrace/store';
import { RewardError } from '../errors.js';

export interface TokenRewards {
  /** [A] Reward at each action token. */
  readonly rewards: Float32Array;
  /** [E] Total of each episode; NaN = missing. */
  readonly totals: Float64Array;
  /** [S + 1] Steps over action tokens. */
  readonly stepOffsets: Int32Array;
  /** C × [E] Unweighted value of each component; 0 where it does not score the episode's data source or has no value. */
  readonly components: readonly Float32Array[];
  /** [C] */
  readonly componentNames: readonly string[];
  /** [C] */
  readonly componentWeights: Float32Array;
  /** [E] 0 for episodes with a missing reward: they are left out of training, never counted as 0. */
  readonly trainedEpisodes: Uint8Array;
  readonly numMissing: number;
}

export interface RewardInputs {
  readonly columns: EpisodeColumns;
  readonly batch: TokenBatch;
  /** [E]; needed when the composition reads texts. */
  readonly texts: readonly EpisodeTexts[] | null;
  /**
   * [E] `totals` of the update that is made again, where it is known: an episode that it left out stays out, whatever judges said
   * since.
   */
  readonly recordedTotals?: Float64Array | null;
}

/** Components and allocation, which turn scores into rewards of tokens. */
export interface Placement {
  /** [C] */
  readonly names: readonly string[];
  /** [C] */
  readonly weights: Float32Array;
  readonly allocation: AllocationOptions;
}

/**
 * Places the rewards of scored episodes `[E]` at the action tokens of their batch.
 *
 * @throws RewardError `REWARD_CHANGED` where an episode's total is not the recorded one
 */
export function placeRewards(
  { columns, batch, recordedTotals = null }: RewardInputs,
  scored: readonly EpisodeReward[],
  { names, weights, allocation }: Placement,
): TokenRewards {
  const numEpisodes = columns.episodeIds.length;
  const episodeRewards = new Float64Array(numEpisodes);
  const stepRewards = new Float64Array(columns.steps.length);
  const trainedEpisodes = new Uint8Array(numEpisodes);
  const totals = new Float64Array(numEpisodes).fill(NaN);
  const components = names.map(() => new Float32Array(numEpisodes));
  scored.forEach(({ total, episodeReward, stepRewards: ofSteps, components: parts }, e) => {
    const recorded = recordedTotals?.[e];
    if (Number.isNaN(recorded)) return;
    if (recorded !== undefined && total !== recorded) {
      throw new RewardError(
        'REWARD_CHANGED',
        `episode ${columns.episodeIds[e]}: its reward was ${recorded} in this update and is ${total === null ? 'missing' : String(total)} when scored again`,
      );
    }
    if (total === null) return;
    totals[e] = total;
    for (const { name, value } of parts) components[names.indexOf(name)][e] = value ?? 0;
    trainedEpisodes[e] = 1;
    episodeRewards[e] = episodeReward;
    stepRewards.set(ofSteps, columns.stepOffsets[e]);
  });
  const stepOffsets = stepActionOffsets(columns, batch);
  const rewards = allocateRewards(
    { episodeSteps: columns.stepOffsets, stepOffsets, episodeRewards, stepRewards },
    allocation,
  );
  const numTrained = trainedEpisodes.reduce((sum, bit) => sum + bit, 0);
  return {
    rewards,
    totals,
    stepOffsets,
    components,
    componentNames: names,
    componentWeights: weights,
    trainedEpisodes,
    numMissing: numEpisodes - numTrained,
  };
}

/** [S + 1] Steps over the action tokens of the batch, which come episode by episode in step order. */
function stepActionOffsets(columns: EpisodeColumns, batch: TokenBatch): Int32Array {
  const offsets = new Int32Array(columns.steps.length + 1);
  for (let e = 0; e + 1 < batch.episodeActionOffsets.length; e++) {
    for (let a = batch.episodeActionOffsets[e]; a < batch.episodeActionOffsets[e + 1]; a++) {
      offsets[columns.stepOffsets[e] + batch.actionStep[a] + 1]++;
    }
  }
  for (let s = 0; s < columns.steps.length; s++) offsets[s + 1] += offsets[s];
  return offsets;
}
