import { checkRecipe, recipeOfSource, runOfSource } from '@retrace/runs/begin';
import type { RecipeOfData } from '../../server/open-run.js';
import { sayChosenRun } from '../../run/said-runs.js';
import { readSource } from '../../run/source-options.js';
import { listOverrides, readTrainingRecipe, type TrainingOptions } from '../../run/training-recipe.js';

/**
 * The recipe of a run on stored data: the one that is named, or else that of the run that most of the data comes from. Null where the options
 * name no data.
 */
export function offlineRecipe(options: TrainingOptions): RecipeOfData | null {
  const asked = readSource(options);
  if (asked === null) return null;
  return async (session, state) => {
    const found = { session, state, onChosen: sayChosenRun };
    // "latest" would be another run when this one is resumed.
    const source = asked.run === undefined ? asked : { ...asked, run: await runOfSource(asked, found) };
    if (options.recipe !== undefined) return readTrainingRecipe({ ...options, fromRun: source.run });
    const runId = await runOfSource(source, found);
    return checkRecipe(recipeOfSource(state, source, runId, (own) => listOverrides(options, own)));
  };
}
