import type { Share } from '@retrace/log';
import type { CollectorClaimed, RoundKey, RunState } from '@retrace/trajectory';
import type { PlannedEpisode } from './round-plan.js';

export type { Share };

/**
 * Whether rounds of the run are claimed before they are played: once several collectors share it, by each of them, and also
 * by the only one that is left.
 */
export function isShared(run: RunState, share: Share): boolean {
  return share.count > 1 || run.rounds.maxShares > 1;
}

/** Places of a round that this share has to play still: every `count`-th group, of which those that are closed are done. */
export function placesLeft(run: RunState, key: RoundKey, numGroups: number, share: Share): number[] {
  const closings = run.rounds.closings(key);
  const places: number[] = [];
  for (let place = share.index; place < numGroups; place += share.count) {
    if (closings?.has(place) !== true) places.push(place);
  }
  return places;
}

/** What takes the planned episodes for this share; they are in group order. */
export function claimOf(
  episodes: readonly PlannedEpisode[],
  { share, numGroups, firstOrdinal }: { share: Share; numGroups: number; firstOrdinal: number },
): CollectorClaimed {
  const groups = [...new Set(episodes.map(({ group }) => group))];
  const [{ split, trainable, round, groupSize }] = groups;
  return {
    shareIndex: share.index,
    numShares: share.count,
    split,
    trainable,
    round,
    numGroups,
    places: Int32Array.from(groups, ({ place }) => place),
    groupIds: groups.map(({ groupId }) => groupId),
    groupSize,
    firstOrdinal,
  };
}

/**
 * Whether a group that was left unfinished is this share's to clean up: its own, and for the first share also those that nobody
 * else will take up: of no claim, or of one under another number of shares, whose collectors are all gone.
 */
export function isOwn(run: RunState, groupId: string, share: Share): boolean {
  const claim = run.rounds.claimOf(groupId);
  if (claim?.numShares === share.count) return claim.shareIndex === share.index;
  return share.index === 0;
}
