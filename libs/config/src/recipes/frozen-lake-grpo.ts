import type { ModelRecipe } from '../recipe/model-recipe.js';
import type { Recipe } from '../recipe/recipe.js';
import { frozenLakePpo } from './frozen-lake-ppo.js';

/** Random 4×4 lakes, GRPO: groups of four, no critic. */
export function frozenLakeGrpo(): Recipe & { readonly model: ModelRecipe } {
  const base = frozenLakePpo();
  return {
    ...base,
    name: 'frozen-lake-grpo',
    description: 'Random 4×4 frozen lakes, GRPO with groups of four, no critic',
    numUpdates: 300,
    compute: { matMulPrecision: 'float32' },
    collection: { ...base.collection, groupsPerRound: 64, groupSize: 4 },
    // Groups that agree get half of their z-score within the batch, or most groups would teach nothing after a while.
    advantage: { estimator: 'grpo', options: { equalGroupCoefficient: 0.5 } },
    loss: { ...base.loss, valueCoefficient: 0 },
    evaluation: { ...base.evaluation, everyUpdates: 20 },
    checkpoint: { ...base.checkpoint, keepEvery: 50 },
  };
}
