import type { BatchPlanned, GroupsDiscarded } from '../../events/control-events.js';
import type { GroupState } from './group-pool.js';
import { RowRecord } from './row-record.js';

/**
 * Draws of a run's sampler, from its events: how often each group of each source was sampled, with which priority, and the inserts and
 * samples of the run's own groups.
 */
export class SamplingLedger {
  private inserted = 0;
  private sampled = 0;
  /** Entry k: own groups that were discarded after k samples. */
  private readonly discardedAfter: number[] = [];
  private readonly given: number[] = [];
  private readonly rows = new Map<number, RowRecord>();
  private discards = 0;
  private tooStale = 0;

  /** Own trainable groups that entered the pool. */
  get numInserted(): number {
    return this.inserted;
  }

  /** Samples of own groups: each group as often as it was planned. */
  get numSampled(): number {
    return this.sampled;
  }

  /** Times that groups without variance were discarded since the last plan. */
  get numDiscards(): number {
    return this.discards;
  }

  /** Own groups that were discarded as too stale. */
  get numTooStale(): number {
    return this.tooStale;
  }

  /** Groups of a source that updates were trained on; a group counts as often as it was planned. */
  numGiven(source: number): number {
    return this.given[source] ?? 0;
  }

  /** Plans and priorities of a source's groups, by row. */
  rowsOf(source: number): RowRecord {
    const known = this.rows.get(source);
    if (known) return known;
    const rows = new RowRecord();
    this.rows.set(source, rows);
    return rows;
  }

  /** Samples that discarded groups would still have given, at so many a group. */
  numCredited(samplesPerInsert: number): number {
    return this.discardedAfter.reduce(
      (sum, count, numPlans) => sum + (count || 0) * Math.max(0, samplesPerInsert - numPlans),
      0,
    );
  }

  insert(numGroups: number): void {
    this.inserted += numGroups;
  }

  plan(plan: BatchPlanned): void {
    if (plan.stage !== 'policy') return;
    this.discards = 0;
    const { groupIds, groupRuns, groupSources, groupRows, episodeGroups } = plan;
    const kept = episodeGroups && new Set(episodeGroups);
    groupIds.forEach((_, g) => {
      if ((groupRuns?.[g] ?? 0) === 0) this.sampled += 1;
      const source = groupSources?.[g] ?? 0;
      if (kept?.has(g) !== false) this.given[source] = this.numGiven(source) + 1;
      const row = groupRows?.[g] ?? -1;
      if (row >= 0) this.rowsOf(source).sample(row);
    });
  }

  /** Keeps the priorities that a plan's update gave its groups. */
  prioritize({ groupSources, groupRows }: BatchPlanned, priorities: Float64Array): void {
    groupRows?.forEach((row, g) => {
      if (row >= 0 && !Number.isNaN(priorities[g]))
        this.rowsOf(groupSources?.[g] ?? 0).prioritize(row, priorities[g]);
    });
  }

  discard({ reason }: GroupsDiscarded, groups: readonly GroupState[]): void {
    if (reason === 'zeroVariance') this.discards += 1;
    else this.tooStale += groups.length;
    for (const { numPlans } of groups)
      this.discardedAfter[numPlans] = (this.discardedAfter[numPlans] ?? 0) + 1;
  }
}
