import type { RecipeOfData } from '../../server/open-run.js';
import {
  checkTrainingRecipe,
  overridesOf,
  readTrainingRecipe,
  type TrainingOptions,
} from '../../run/training-recipe.js';
import { recipeOfSource, runOfSource, sourceOf } from '../../run/training-source.js';

/**
 * The recipe of a run on stored data: the one that is named, or else that of the run that most of the data comes from. Null where the options
 * name no data.
 */
export function offlineRecipe(options: TrainingOptions): RecipeOfData | null {
  const asked = sourceOf(options);
  if (asked === null) return null;
  return async (session, state) => {
    // "latest" would be another run when this one is resumed.
    const source =
      asked.run === undefined ? asked : { ...asked, run: await runOfSource(asked, { session, state }) };
    if (options.recipe !== undefined) return readTrainingRecipe({ ...options, fromRun: source.run });
    const runId = await runOfSource(source, { session, state });
    return checkTrainingRecipe(recipeOfSource(state, source, runId, (own) => overridesOf(options, own)));
  };
}
