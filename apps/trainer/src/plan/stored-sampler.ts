import type { SamplerRecipe } from '@retrace/config';
import { drawByWeight, SumTree } from '@retrace/algorithms/sampling';
import type { RowRecord } from '@retrace/trajectory';
import { computeChance, type DrawnGroup } from './drawn-group.js';
import { groupWeight } from './group-weight.js';
import type { StoredGroups, SuccessCounts } from './stored-groups.js';

interface StoredSamplerOptions {
  /** Place of the source in the recipe. */
  readonly source: number;
  readonly groups: StoredGroups;
  /** Earlier samples, as the log has them. */
  readonly record: RowRecord;
  readonly sampler: SamplerRecipe;
}

/** Draws groups from a source that does not change. What was sampled before is in the log, so a trainer that resumes draws the same. */
export class StoredSampler {
  private tree: SumTree | null = null;
  private readonly success: readonly SuccessCounts[] | null;
  /** Rows whose weight may have changed since the last draw. */
  private stale: readonly number[] = [];

  constructor(private readonly options: StoredSamplerOptions) {
    this.success = options.sampler.curriculum ? options.groups.familySuccess() : null;
  }

  /**
   * Draws groups that are not among those that were drawn before; fewer where no more may be sampled.
   *
   * @param before groups of this source that the update being planned has drawn already; this draw continues theirs
   */
  draw(count: number, nextFloat: () => number, before: readonly DrawnGroup[] = []): DrawnGroup[] {
    const { rule } = this.options.sampler;
    if (rule === 'fifo' || rule === 'newest')
      return this.drawInOrder(count, before.length, rule === 'newest');
    const tree = this.currentTree();
    const hidden = before.map(({ row }) => [row, tree.get(row)] as const);
    for (const [row] of hidden) tree.set(row, 0);
    const startTime = before.reduce((latest, { chance }) => Math.max(latest, chance?.drawnAt ?? 0), 0);
    const drawn = drawByWeight(tree, count, nextFloat, startTime);
    for (const [row, weight] of hidden) tree.set(row, weight);
    const isPreferred = rule === 'prioritized';
    return Array.from(drawn.items, (row, k) =>
      this.groupAt(row, isPreferred ? computeChance(drawn, k) : null),
    );
  }

  /** Tells that these rows are in a plan, which changes their weights. */
  planned(rows: Iterable<number>): void {
    this.stale = [...this.stale, ...rows];
  }

  private drawInOrder(count: number, numExcluded: number, isNewest: boolean): DrawnGroup[] {
    const { groups, record } = this.options;
    const { numGroups } = groups;
    const first = record.numSampled + numExcluded;
    const left = numGroups * this.limit - first;
    // No update has a group twice.
    const length = Math.max(0, Math.min(count, left, numGroups - numExcluded));
    return Array.from({ length }, (_, k) => {
      const place = (first + k) % numGroups;
      return this.groupAt(isNewest ? numGroups - 1 - place : place, null);
    });
  }

  private get limit(): number {
    return this.options.sampler.maxTimesSampled ?? Number.POSITIVE_INFINITY;
  }

  private currentTree(): SumTree {
    const { numGroups } = this.options.groups;
    if (this.tree === null) {
      this.tree = new SumTree(Float64Array.from({ length: numGroups }, (_, row) => this.weightOf(row)));
    } else {
      for (const row of this.stale) this.tree.set(row, this.weightOf(row));
    }
    this.stale = [];
    return this.tree;
  }

  private weightOf(row: number): number {
    const { groups, record, sampler } = this.options;
    if (record.numPlans(row) >= this.limit) return 0;
    const isSql = typeof sampler.priority === 'object';
    const priority = isSql ? groups.priority(row) : record.priority(row);
    const success = this.success?.[row] ?? null;
    // All rows were there from the start, when no priority was known: theirs is 1 until they are tried.
    return groupWeight(sampler, { priority, success }, isSql ? 0 : 1);
  }

  private groupAt(row: number, chance: DrawnGroup['chance']): DrawnGroup {
    const { groups, source } = this.options;
    const common = { source, row, runId: groups.runId(row), groupId: groups.groupId(row), offset: null };
    return { ...common, ...groups.members(row), chance };
  }
}
