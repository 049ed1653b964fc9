import type { Share } from '@retrace/log';
import type { CollectorClaimed, RoundKey, RunState } from '@retrace/trajectory';
import type { PlannedEpisode } from '../episode/planned-episode.js';

export type { Share };

/**
 * Whether rounds of the run are claimed before they are played: as soon as several collectors share it, and also when one of them
 * is left.
 */
export function isShared(run: RunState, share: Share): boolean {
  return share.count > 1 || run.rounds.maxShares > 1;
}

/** Places of a round that this share still has to play: every `count`-th group, without those already closed. */
export function placesLeft(run: RunState, key: RoundKey, numGroups: number, share: Share): number[] {
  const closings = run.rounds.closings(key);
  const places: number[] = [];
  for (let place = share.index; place < numGroups; place += share.count) {
    if (closings?.has(place) !== true) places.push(place);
  }
  return places;
}

/** Claim of the planned episodes, which are in group order, for this share. */
export function makeClaim(
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
 * Whether this share must clean up an unfinished group: its own ones, and for the first share also those without a claim, or with
 * a claim under another number of shares, whose collectors no longer run.
 */
export function isOwn(run: RunState, groupId: string, share: Share): boolean {
  const claim = run.rounds.claimOf(groupId);
  if (claim?.numShares === share.count) return claim.shareIndex === share.index;
  return share.index === 0;
}
