import type { Recipe } from '../recipe/recipe.js';
import { resolveRecipe } from './resolve-recipe.js';

/**
 * Recipe by which a batch of a recorded run is made, which was trained by none: the rewards that were recorded with its steps, GRPO's advantages within its
 * groups, and no question that only a policy can answer.
 *
 * @param temperature that its tokens were sampled at
 * @throws ConfigError `RECIPE_INVALID` for a temperature that no recipe may have
 */
export function recordedRecipe(temperature: number): Recipe {
  return resolveRecipe('frozen-lake-grpo', {
    assignments: [
      'advantage={"estimator":"grpo","options":{}}',
      'loss.entropyCoefficient=0',
      `collection.temperature=${temperature}`,
    ],
  });
}
