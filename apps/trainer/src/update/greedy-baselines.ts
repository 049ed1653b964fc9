import type { EpisodeColumns } from '@retrace/trajectory';
import { TrainerError } from '../trainer-error.js';

/** [E] 1 for the episodes that were played greedily as a baseline; they are not trained on. */
export function greedyBaselines({
  episodeIds,
  stepOffsets,
  greedy,
}: Pick<EpisodeColumns, 'episodeIds' | 'stepOffsets' | 'greedy'>): Uint8Array {
  return Uint8Array.from(episodeIds, (_, e) =>
    Number(greedy.subarray(stepOffsets[e], stepOffsets[e + 1]).includes(1)),
  );
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
