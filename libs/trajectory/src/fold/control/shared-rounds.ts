import type { CollectorClaimed } from '../../events/control-events.js';
import type { LoggedGroup } from './closed-group.js';
import { RecentIds } from './recent-ids.js';

/** The claim in force of a share. */
export interface RoundClaim extends CollectorClaimed {
  readonly eventId: string;
}

/** Identifies a round of a run. */
export type RoundKey = Pick<CollectorClaimed, 'split' | 'trainable' | 'round'>;

/** A shared round in which some groups have closed, but not all. */
interface OpenRound {
  readonly numGroups: number;
  /** Closed groups by place. */
  readonly closings: Map<number, LoggedGroup>;
}

/** Number of groups of replaced claims that are remembered; only a process that outlived its claim closes such a group. */
const NUM_REMEMBERED_IDS = 10_000;

/**
 * Rounds that several collectors share: claim → close. Each place of a round is claimed by one share at a time. The groups of a
 * round count together once all of its places are closed, in the order of their places, so what is trained on does not depend on
 * which collector was faster.
 *
 * A claim counts if it was written with knowledge of all that came before it in the log (its ordinals are free) and none of its places is
 * closed, or held by another share. It replaces its share's claim before it: a share has one holder at a time, so that holder is gone. A
 * claim under another number of shares replaces all claims, for the same reason.
 */
export class SharedRounds {
  private readonly claims = new Map<number, RoundClaim>();
  private readonly claimed = new Map<string, { readonly claim: RoundClaim; readonly place: number }>();
  private readonly open = new Map<string, OpenRound>();
  private readonly replaced = new RecentIds(NUM_REMEMBERED_IDS);
  private ordinalAfter = 0;
  private mostShares = 1;

  /** The first ordinal that no claimed and no closed episode has. */
  get nextOrdinal(): number {
    return this.ordinalAfter;
  }

  /** The most shares that the run ever had. */
  get maxShares(): number {
    return this.mostShares;
  }

  /** The claim in force that names the group. */
  claimOf(groupId: string): RoundClaim | undefined {
    return this.claimed.get(groupId)?.claim;
  }

  /** The claim in force of a share. */
  claimBy(shareIndex: number): RoundClaim | undefined {
    return this.claims.get(shareIndex);
  }

  /** The groups of an incomplete round that are closed, by place; none before the first is. */
  closings(key: RoundKey): ReadonlyMap<number, LoggedGroup> | undefined {
    return this.open.get(makeKey(key))?.closings;
  }

  /** Whether the group is closed and waits for the rest of its round. */
  isWaiting(groupId: string): boolean {
    const claimed = this.claimed.get(groupId);
    return claimed !== undefined && this.closings(claimed.claim)?.get(claimed.place)?.groupId === groupId;
  }

  /** Records that an episode with this ordinal is closed. */
  passOrdinal(ordinal: number): void {
    this.ordinalAfter = Math.max(this.ordinalAfter, ordinal + 1);
  }

  accept(claim: RoundClaim): 'duplicate' | 'conflict' | null {
    if (this.claims.get(claim.shareIndex)?.eventId === claim.eventId) return 'duplicate';
    if (claim.firstOrdinal < this.ordinalAfter) return 'conflict';
    const open = this.open.get(makeKey(claim));
    if (open !== undefined && open.numGroups !== claim.numGroups) return 'conflict';
    if (claim.places.some((place) => open?.closings.has(place) === true || this.isHeld(claim, place))) {
      return 'conflict';
    }
    for (const [shareIndex, { numShares }] of [...this.claims]) {
      if (shareIndex === claim.shareIndex || numShares !== claim.numShares) this.replace(shareIndex);
    }
    this.claims.set(claim.shareIndex, claim);
    claim.groupIds.forEach((groupId, g) => {
      this.claimed.set(groupId, { claim, place: claim.places[g] });
    });
    this.ordinalAfter = claim.firstOrdinal + claim.groupIds.length * claim.groupSize;
    this.mostShares = Math.max(this.mostShares, claim.numShares);
    return null;
  }

  /**
   * Takes a group that closes.
   *
   * @returns the groups that count from now on: none while its round is incomplete, or for one whose claim was replaced; the group
   *   itself when no claim names it or when it was abandoned
   */
  close(group: LoggedGroup): readonly LoggedGroup[] {
    const claimed = this.claimed.get(group.groupId);
    if (claimed === undefined) return this.replaced.has(group.groupId) ? [] : [group];
    const { claim, place } = claimed;
    if (group.reason === 'abandoned') return [group];
    const key = makeKey(claim);
    const { numGroups } = claim;
    const { closings } = this.open.get(key) ?? { closings: new Map<number, LoggedGroup>() };
    if (closings.has(place)) return [];
    closings.set(place, group);
    if (closings.size < numGroups) {
      this.open.set(key, { numGroups, closings });
      return [];
    }
    this.open.delete(key);
    for (const { groupId } of closings.values()) this.claimed.delete(groupId);
    return [...closings].sort(([a], [b]) => a - b).map(([, inOrder]) => inOrder);
  }

  private isHeld(claim: RoundClaim, place: number): boolean {
    for (const other of this.claims.values()) {
      const isOthers = other.shareIndex !== claim.shareIndex && other.numShares === claim.numShares;
      if (isOthers && makeKey(other) === makeKey(claim) && other.places.includes(place)) return true;
    }
    return false;
  }

  /** Drops a share's claim. Its closed groups stay known, because their round continues with them. */
  private replace(shareIndex: number): void {
    const claim = this.claims.get(shareIndex);
    this.claims.delete(shareIndex);
    for (const groupId of claim?.groupIds ?? []) {
      if (this.isWaiting(groupId)) continue;
      if (this.claimed.delete(groupId)) this.replaced.add(groupId);
    }
  }
}

function makeKey({ split, trainable, round }: RoundKey): string {
  return `${split}/${trainable}/${round}`;
}
