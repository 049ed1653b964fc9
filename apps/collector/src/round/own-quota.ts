import { dataSources, type Recipe } from '@retrace/config';
import { divideByShare } from '@retrace/algorithms/sampling';

/** The groups of a training round. */
export interface RoundQuota {
  /** Index of its first task: the groups of all rounds before. */
  readonly firstTask: number;
  readonly numGroups: number;
}

/** Groups given by each source after so many rounds, remembered for the last recipe: rounds are asked for one after the other. */
let memory: { readonly recipe: Recipe; round: number; given: number[]; before: number } | null = null;

/**
 * The groups that a round is to collect: as many as the update that is trained on it takes of the run's own source. Without other sources that
 * is `collection.groupsPerRound`.
 */
export function computeQuota(recipe: Recipe, round: number): RoundQuota {
  const { groupsPerRound } = recipe.collection;
  const sources = dataSources(recipe);
  const own = sources.findIndex(({ from }) => from === 'own');
  if (sources.length === 1 || own < 0)
    return { firstTask: round * groupsPerRound, numGroups: groupsPerRound };
  if (memory?.recipe !== recipe || memory.round > round + 1)
    memory = { recipe, round: 0, given: sources.map(() => 0), before: 0 };
  while (memory.round <= round) {
    const { given } = memory;
    memory.before = given[own];
    const counts = divideByShare(
      sources.map(({ share = 1 }, s) => ({ share, numGiven: given[s] })),
      groupsPerRound,
    );
    memory.given = given.map((count, s) => count + counts[s]);
    memory.round += 1;
  }
  // A round of no groups could not end.
  return { firstTask: memory.before, numGroups: Math.max(1, memory.given[own] - memory.before) };
}
