import type { ClosedGroup } from './closed-group.js';
import { RecentIds } from './recent-ids.js';

/** A closed group that may still be sampled. */
export interface GroupState extends ClosedGroup {
  /** Where its `GroupsClosed` lies. */
  readonly offset: number;
  readonly closedAtUs: number;
  /** Plans that sampled it, applied or pending. */
  readonly numPlans: number;
}

/** How many groups came in and went out: what a samples-per-insert limiter is derived from. */
export interface GroupCounts {
  readonly numClosed: number;
  /** Members of all closed groups, abandoned ones too. */
  readonly numEpisodes: number;
  /** Closed groups of split `train` that may be sampled (not abandoned). */
  readonly numInserted: number;
  /** Groups in plans, applied or pending; a group sampled twice counts twice. */
  readonly numSampled: number;
  /** Inserted groups that the reader gave up on (`forget`), such as too stale ones. */
  readonly numForgotten: number;
}

/** A group that is closed again is known by its id for this many groups; producers retry within seconds. */
const NUM_REMEMBERED_IDS = 100_000;

/**
 * The closed groups of a run that can be sampled: split `train`, not abandoned, and in fewer plans than the limit.
 * Groups that are used up leave only counts behind, so a long run's pool stays small.
 */
export class GroupPool {
  private readonly maxTimesSampled: (group: ClosedGroup) => number;
  private readonly groups = new Map<string, GroupState>();
  private readonly knownIds = new RecentIds(NUM_REMEMBERED_IDS);
  private numClosed = 0;
  private numEpisodes = 0;
  private numInserted = 0;
  private numSampled = 0;
  private numForgotten = 0;
  private highestRound = -1;

  constructor(maxTimesSampled: (group: ClosedGroup) => number) {
    this.maxTimesSampled = maxTimesSampled;
  }

  get counts(): GroupCounts {
    return {
      numClosed: this.numClosed,
      numEpisodes: this.numEpisodes,
      numInserted: this.numInserted,
      numSampled: this.numSampled,
      numForgotten: this.numForgotten,
    };
  }

  /** The highest round that a trainable group was closed in (abandoned groups aside); −1 when none was. */
  get lastRound(): number {
    return this.highestRound;
  }

  get size(): number {
    return this.groups.size;
  }

  get(groupId: string): GroupState | undefined {
    return this.groups.get(groupId);
  }

  /** In the order they closed. */
  all(): IterableIterator<GroupState> {
    return this.groups.values();
  }

  /** Whether the group was closed, as far back as ids are remembered. */
  hasClosed(groupId: string): boolean {
    return this.knownIds.has(groupId);
  }

  /** False when the group was closed before: the first closing counts. */
  close(group: ClosedGroup, offset: number, closedAtUs: number): boolean {
    if (this.knownIds.has(group.groupId)) return false;
    this.knownIds.add(group.groupId);
    this.numClosed += 1;
    this.numEpisodes += group.episodeIds.length;
    if (group.trainable && group.reason !== 'abandoned')
      this.highestRound = Math.max(this.highestRound, group.round);
    if (group.split === 'train' && group.reason !== 'abandoned') {
      this.numInserted += 1;
      this.groups.set(group.groupId, { ...group, offset, closedAtUs, numPlans: 0 });
    }
    return true;
  }

  /** Counts the groups of a plan and lets go of those that are used up. */
  sample(groupIds: readonly string[]): void {
    this.numSampled += groupIds.length;
    for (const groupId of groupIds) {
      const group = this.groups.get(groupId);
      if (group === undefined) continue;
      const numPlans = group.numPlans + 1;
      if (numPlans < this.maxTimesSampled(group)) this.groups.set(groupId, { ...group, numPlans });
      else this.groups.delete(groupId);
    }
  }

  /**
   * Lets go of a group that this reader will never sample, such as a too stale one. It changes no event: a reader that
   * starts again finds the group again and decides again.
   */
  forget(groupId: string): void {
    if (this.groups.delete(groupId)) this.numForgotten += 1;
  }
}
