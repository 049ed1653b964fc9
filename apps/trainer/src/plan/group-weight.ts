import type { SamplerRecipe } from '@retrace/config';
import { curriculumWeight, priorityWeight } from '@retrace/algorithms/sampling';
import type { SuccessCounts } from './stored-groups.js';

const DEFAULT_PRIORITY_EXPONENT = 0.6;
const DEFAULT_DIFFICULTY = 0.5;
const DEFAULT_LEAST_WEIGHT = 0.1;

interface WeighedGroup {
  /** Null where nothing is known of it yet. */
  readonly priority: number | null;
  /** Of its family of tasks; null without a curriculum. */
  readonly success: SuccessCounts | null;
}

/**
 * Weight of a group in a draw.
 *
 * @param newest priority of groups of which nothing is known: the highest so far, so that each is tried soon (arXiv:1511.05952, algorithm 1)
 */
export function groupWeight(sampler: SamplerRecipe, group: WeighedGroup, newest: number): number {
  const { rule, priorityExponent = DEFAULT_PRIORITY_EXPONENT, curriculum } = sampler;
  const priority = rule === 'prioritized' ? priorityWeight(group.priority ?? newest, priorityExponent) : 1;
  if (!curriculum || !group.success) return priority;
  const { targetDifficulty = DEFAULT_DIFFICULTY, leastWeight = DEFAULT_LEAST_WEIGHT } = curriculum;
  return priority * curriculumWeight(group.success, { targetSuccess: 1 - targetDifficulty, leastWeight });
}
