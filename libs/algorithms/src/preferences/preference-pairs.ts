import { checkGroupIds, checkMask, checkValues, type NumericArray } from '../layout/check.js';
import { countGroups, momentsOfGroups, type GroupSignalCounts } from '../layout/groups.js';

export interface PreferencePairsInput {
  /** Return of each episode `[E]`. */
  readonly returns: NumericArray;
  /** Group number of each episode `[E]`, each below E. */
  readonly groupIds: Int32Array;
  /** 1 for episodes that no pair may have, whose returns are not read `[E]`; null: none. */
  readonly excluded?: Uint8Array | null;
}

/** Pairs of episodes, with counts of the groups that they are made of; excluded episodes are not counted. */
export interface PreferencePairs extends GroupSignalCounts {
  /** The preferred episode of each pair `[P]`. */
  readonly chosen: Int32Array;
  /** The other one `[P]`. */
  readonly rejected: Int32Array;
}

/**
 * Makes one pair of each group: the episode with the largest return against that with the smallest, the first of those that are equally
 * good. Groups of one, and groups whose returns are all equal (as `grpo` has it), give none. Pairs are in the order of group numbers.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for unequal lengths, returns that are not finite, bad group numbers
 */
export function preferencePairs({
  returns,
  groupIds,
  excluded = null,
}: PreferencePairsInput): PreferencePairs {
  const numEpisodes = returns.length;
  checkGroupIds('groupIds', groupIds, numEpisodes);
  if (excluded !== null) checkMask('excluded', excluded, numEpisodes);
  const counted = excluded === null ? returns : returns.map((value, e) => (excluded[e] === 1 ? 0 : value));
  checkValues({ returns: counted }, numEpisodes);
  const episodes = groupIds.map((_, e) => e).filter((e) => excluded?.[e] !== 1);
  const ofEpisodes = Float64Array.from(episodes, (e) => returns[e]);
  const groups = momentsOfGroups(
    ofEpisodes,
    episodes.map((e) => groupIds[e]),
    numEpisodes,
  );
  const best = new Int32Array(numEpisodes).fill(-1);
  const worst = new Int32Array(numEpisodes).fill(-1);
  for (const e of episodes) {
    const group = groupIds[e];
    if (best[group] === -1 || returns[e] > returns[best[group]]) best[group] = e;
    if (worst[group] === -1 || returns[e] < returns[worst[group]]) worst[group] = e;
  }
  const paired = groups.counts
    .map((_, group) => group)
    .filter((group) => groups.counts[group] > 1 && groups.allEqual[group] === 0);
  return {
    chosen: paired.map((group) => best[group]),
    rejected: paired.map((group) => worst[group]),
    ...countGroups(groups),
  };
}
