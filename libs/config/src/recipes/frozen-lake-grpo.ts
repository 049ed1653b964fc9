import type { Recipe } from '../recipe/recipe.js';
import { frozenLakePpo } from './frozen-lake-ppo.js';

/** Random 4×4 lakes, GRPO: groups of four, no critic. */
export function frozenLakeGrpo(): Recipe {
  const base = frozenLakePpo();
  return {
    ...base,
    name: 'frozen-lake-grpo',
    description: 'Random 4×4 frozen lakes, GRPO with groups of four, no critic',
    numUpdates: 450,
    collection: { ...base.collection, groupsPerRound: 64, groupSize: 4 },
    advantage: {
      ...base.advantage,
      estimator: 'grpo',
      gamma: 1,
      lambda: 1,
      whiten: false,
      zeroVarianceGroups: 'batch',
    },
    loss: { ...base.loss, valueCoefficient: 0 },
  };
}
