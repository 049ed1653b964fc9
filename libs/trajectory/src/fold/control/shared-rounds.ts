import type { CollectorClaimed, Split } from '../../events/event.js';
import type { ClosedGroup } from './closed-group.js';
import { RecentIds } from './recent-ids.js';

/** The claim in force of a share. */
export interface RoundClaim extends CollectorClaimed {
  readonly eventId: string;
}

/** What identifies a round of a run. */
export interface RoundKey {
  readonly split: Split;
  readonly trainable: boolean;
  readonly round: number;
}

/** A group as it closed, with where and when. */
export interface Closing {
  readonly group: ClosedGroup;
  readonly offset: number;
  readonly closedAtUs: number;
}

/** A shared round of which groups have closed, but not all. */
export interface OpenRound {
  readonly numGroups: number;
  /** By place. */
  readonly closings: ReadonlyMap<number, Closing>;
}

export type ClaimRefusal = 'duplicate' | 'conflict';

/** Groups of claims that were replaced are known for this many; only a process that outlived its claim closes one. */
const NUM_REMEMBERED_IDS = 10_000;

/**
 * Rounds that several collectors share: claim → close. Each place of a round is claimed by one share at a time, and the groups of a
 * round count together once all of its places are closed, in the order of their places: so what is trained on doesn't depend on
 * which collector was faster.
 *
 * A claim counts if it knows all that came before it in the log (its ordinals are free) and none of its places is closed, or held
 * by another share. It replaces its share's claim before it: a share has one holder at a time, so that one's holder is gone. A claim
 * under another number of shares replaces all claims, for the same reason.
 */
export class SharedRounds {
  private readonly claims = new Map<number, RoundClaim>();
  private readonly claimed = new Map<string, { readonly claim: RoundClaim; readonly place: number }>();
  private readonly open = new Map<
    string,
    { readonly numGroups: number; readonly closings: Map<number, Closing> }
  >();
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

  openRound(key: RoundKey): OpenRound | undefined {
    return this.open.get(keyOf(key));
  }

  /** Whether the group is closed and waits for the rest of its round. */
  isWaiting(groupId: string): boolean {
    const claimed = this.claimed.get(groupId);
    return claimed !== undefined && this.closingAt(claimed.claim, claimed.place)?.group.groupId === groupId;
  }

  /** An episode of that ordinal is closed. */
  passOrdinal(ordinal: number): void {
    this.ordinalAfter = Math.max(this.ordinalAfter, ordinal + 1);
  }

  accept(claim: RoundClaim): ClaimRefusal | null {
    if (this.claims.get(claim.shareIndex)?.eventId === claim.eventId) return 'duplicate';
    if (claim.firstOrdinal < this.ordinalAfter) return 'conflict';
    const open = this.openRound(claim);
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
  close(closing: Closing): readonly Closing[] {
    const { group } = closing;
    const claimed = this.claimed.get(group.groupId);
    if (claimed === undefined) return this.replaced.has(group.groupId) ? [] : [closing];
    const { claim, place } = claimed;
    if (group.reason === 'abandoned') return [closing];
    const key = keyOf(claim);
    const round = this.open.get(key) ?? { numGroups: claim.numGroups, closings: new Map<number, Closing>() };
    if (round.closings.has(place)) return [];
    round.closings.set(place, closing);
    if (round.closings.size < round.numGroups) {
      this.open.set(key, round);
      return [];
    }
    this.open.delete(key);
    for (const { group: closed } of round.closings.values()) this.claimed.delete(closed.groupId);
    return [...round.closings].sort(([a], [b]) => a - b).map(([, inOrder]) => inOrder);
  }

  private isHeld(claim: RoundClaim, place: number): boolean {
    for (const other of this.claims.values()) {
      const isOthers = other.shareIndex !== claim.shareIndex && other.numShares === claim.numShares;
      if (isOthers && keyOf(other) === keyOf(claim) && other.places.includes(place)) return true;
    }
    return false;
  }

  private closingAt(claim: RoundClaim, place: number): Closing | undefined {
    return this.openRound(claim)?.closings.get(place);
  }

  /** Groups that are closed stay known: their round goes on with them. */
  private replace(shareIndex: number): void {
    const claim = this.claims.get(shareIndex);
    this.claims.delete(shareIndex);
    for (const groupId of claim?.groupIds ?? []) {
      if (this.isWaiting(groupId)) continue;
      if (this.claimed.delete(groupId)) this.replaced.add(groupId);
    }
  }
}

function keyOf({ split, trainable, round }: RoundKey): string {
  return `${split}/${trainable}/${round}`;
}
