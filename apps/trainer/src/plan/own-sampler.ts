import type { SamplerRecipe } from '@retrace/config';
import { drawByWeight, SumTree } from '@retrace/algorithms/sampling';
import type { GroupState } from '@retrace/trajectory';
import { computeChance, type DrawnGroup } from './drawn-group.js';
import { groupWeight } from './group-weight.js';
import type { StoredGroups, SuccessCounts } from './stored-groups.js';

interface OwnDraw {
  /** Place of the own source in the recipe. */
  readonly source: number;
  readonly sampler: SamplerRecipe;
  readonly count: number;
  readonly nextFloat: () => number;
  /** Facts of these groups, for a curriculum or a priority in SQL; null where neither is asked for. */
  readonly facts: StoredGroups | null;
}

/**
 * Draws groups of the run itself by a rule other than `fifo`.
 *
 * @param groups those that may be sampled now, in the order in which they closed
 */
export function drawOwn(groups: readonly GroupState[], draw: OwnDraw): DrawnGroup[] {
  const { source, sampler, count, nextFloat, facts } = draw;
  if (sampler.rule === 'newest') {
    const newest = groups.slice(Math.max(0, groups.length - count));
    return newest.reverse().map((group) => ownGroup(group, source, null));
  }
  const tree = new SumTree(computeWeights(groups, sampler, facts));
  const drawn = drawByWeight(tree, count, nextFloat);
  const isPreferred = sampler.rule === 'prioritized';
  return Array.from(drawn.items, (item, k) =>
    ownGroup(groups[item], source, isPreferred ? computeChance(drawn, k) : null),
  );
}

/** A group of the run as a drawn one. */
export function ownGroup(group: GroupState, source: number, chance: DrawnGroup['chance']): DrawnGroup {
  const { groupId, episodeIds, numSteps, offset } = group;
  return { source, runId: null, row: -1, groupId, episodeIds, numSteps, offset, chance };
}

function computeWeights(
  groups: readonly GroupState[],
  sampler: SamplerRecipe,
  facts: StoredGroups | null,
): Float64Array {
  const isSql = typeof sampler.priority === 'object';
  const rows = new Map<string, number>();
  for (let row = 0; row < (facts?.numGroups ?? 0); row++) rows.set(facts?.groupId(row) ?? '', row);
  const success: readonly SuccessCounts[] = sampler.curriculum && facts ? facts.familySuccess() : [];
  // An untried group has the highest priority so far, so that each is tried soon (arXiv:1511.05952, algorithm 1).
  const highest = groups.reduce((max, { priority }) => Math.max(max, priority ?? 0), 0) || 1;
  return Float64Array.from(groups, (group) => {
    const row = rows.get(group.groupId);
    const known = row === undefined ? null : (facts?.priority(row) ?? null);
    return groupWeight(
      sampler,
      {
        priority: isSql ? known : group.priority,
        success: row === undefined ? null : (success[row] ?? null),
      },
      isSql ? 0 : highest,
    );
  });
}
