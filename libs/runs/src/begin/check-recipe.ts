import { asksServerForAnchors, requireFit, type Recipe } from '@retrace/config';

/**
 * Loads what a recipe names, so that a fault in it is reported at once; returns it with the number of its updates.
 *
 * @throws ConfigError; RewardError and EnvironmentSourceError `MODULE_INVALID`; RewardError `INVALID_ARGUMENT` for options that a file's reward doesn't take
 */
export async function checkRecipe(recipe: Recipe): Promise<Recipe> {
  if (recipe.reward.components.some(({ module }) => module !== undefined)) {
    const { RewardScorer } = await import('@retrace/rewards/scoring');
    await RewardScorer.load(recipe.reward);
  }
  if (typeof recipe.environment !== 'string') {
    const { readEnvironment } = await import('@retrace/environment-sources');
    requireFit(recipe, await readEnvironment(recipe.environment));
    if (asksServerForAnchors(recipe)) await requireFitOfServer(recipe);
  }
  if (!recipe.tasks) return recipe;
  const { completeTasks } = await import('@retrace/environment-sources');
  return completeTasks(recipe);
}

/**
 * Asks a server what its environment offers, and closes it again.
 *
 * @throws ConfigError `RECIPE_INVALID`; EnvironmentSourceError and ProcessError where it does not answer
 */
async function requireFitOfServer(recipe: Recipe): Promise<void> {
  const { openEnvironment } = await import('@retrace/environment-sources');
  const { spec, close } = await openEnvironment(recipe.environment);
  try {
    requireFit(recipe, spec);
  } finally {
    await close();
  }
}
