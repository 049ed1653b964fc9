import type { Recipe } from '../recipe/recipe.js';
import { frozenLakeGrpo } from './frozen-lake-grpo.js';

/** Random 4×4 lakes, online DPO: of each group of eight the best episode against the worst. */
export function frozenLakeDpo(): Recipe {
  const base = frozenLakeGrpo();
  return {
    ...base,
    name: 'frozen-lake-dpo',
    description: 'Random 4×4 frozen lakes, DPO on the best and the worst episode of groups of eight',
    collection: { ...base.collection, groupsPerRound: 64, groupSize: 8 },
    preference: { loss: 'dpo', beta: 0.1 },
  };
}
