import type { ClosedGroup, LoggedGroup } from './closed-group.js';
import { RecentIds } from './recent-ids.js';

/** A closed group that may still be sampled. */
export interface GroupState extends LoggedGroup {
  /** Plans that sampled it, applied or pending. */
  readonly numPlans: number;
  /** Priority that the last update of the group gave it; null before any did. */
  readonly priority: number | null;
}

/** A group that is closed again is recognized among the last so many; producers retry within seconds. */
const NUM_REMEMBERED_IDS = 100_000;

/**
 * The closed groups of a run that can be sampled: split `train`, not abandoned, and in fewer plans than the limit.
 * Of used-up groups only the ids are kept, so the pool of a long run stays small.
 */
export class GroupPool {
  private readonly groups = new Map<string, GroupState>();
  private readonly knownIds = new RecentIds(NUM_REMEMBERED_IDS);
  private forgotten = 0;
  private highestRound = -1;

  constructor(private readonly maxTimesSampled: (group: ClosedGroup) => number) {}

  /** Groups that this reader gave up on (`forget`). */
  get numForgotten(): number {
    return this.forgotten;
  }

  /** The highest round in which a trainable group was closed without being abandoned; −1 when there is none. */
  get lastRound(): number {
    return this.highestRound;
  }

  get(groupId: string): GroupState | undefined {
    return this.groups.get(groupId);
  }

  /** Groups in the order they closed. */
  all(): IterableIterator<GroupState> {
    return this.groups.values();
  }

  /** Whether the group was closed, as far back as ids are remembered. */
  hasClosed(groupId: string): boolean {
    return this.knownIds.has(groupId);
  }

  /** Whether a plan may still sample the group, now or once it is closed. */
  maySample(groupId: string): boolean {
    return this.groups.has(groupId) || !this.knownIds.has(groupId);
  }

  /** Adds a group, unless it was closed before: the first closing counts. */
  close(group: LoggedGroup): void {
    if (this.knownIds.has(group.groupId)) return;
    this.knownIds.add(group.groupId);
    if (group.reason === 'abandoned') return;
    if (group.trainable) this.highestRound = Math.max(this.highestRound, group.round);
    if (group.split === 'train') this.groups.set(group.groupId, { ...group, numPlans: 0, priority: null });
  }

  /** Counts the groups of a plan and drops those that are used up. */
  sample(groupIds: readonly string[]): void {
    for (const groupId of groupIds) {
      const group = this.groups.get(groupId);
      if (group === undefined) continue;
      const numPlans = group.numPlans + 1;
      if (numPlans < this.maxTimesSampled(group)) this.groups.set(groupId, { ...group, numPlans });
      else this.groups.delete(groupId);
    }
  }

  /** Keeps the priority of a group that may still be sampled. */
  prioritize(groupId: string, priority: number): void {
    const group = this.groups.get(groupId);
    if (group !== undefined) this.groups.set(groupId, { ...group, priority });
  }

  /** Drops a group that the trainer discarded; undefined where it is not in the pool. */
  discard(groupId: string): GroupState | undefined {
    const group = this.groups.get(groupId);
    this.groups.delete(groupId);
    return group;
  }

  /**
   * Drops a group that this reader will never sample, such as one that is too stale. No event records this: after a restart the
   * reader finds the group again and decides again.
   */
  forget(groupId: string): void {
    if (this.groups.delete(groupId)) this.forgotten += 1;
  }
}
