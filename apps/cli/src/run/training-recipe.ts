import { requireFit, resolveRecipe, type Recipe } from '@retrace/config';
import type { CommonOptions } from '../options.js';
import type { BackendChoice } from '@retrace/process';

/** Options of the commands that train a recipe. */
export interface TrainingOptions extends CommonOptions {
  readonly recipe: string;
  readonly updates?: number;
  readonly seed?: number;
  readonly set?: readonly string[];
  readonly collectors: number;
  readonly backend?: BackendChoice;
  readonly acceptOtherLog?: true;
}

/**
 * Reads the recipe that the options name, with their overrides. Loads its modules before anything starts, so that a fault
 * in one is reported at once instead of by a role that keeps failing. Reads its task files for the same reason, and for the number of updates.
 *
 * @throws ConfigError; ScoringError and EnvironmentSourceError `MODULE_INVALID`; RewardError for options that a file's reward doesn't take
 */
export async function readTrainingRecipe(
  options: Pick<TrainingOptions, 'recipe' | 'updates' | 'seed' | 'set'>,
): Promise<Recipe> {
  const { seed, updates: numUpdates, set: assignments } = options;
  const recipe = resolveRecipe(options.recipe, { seed, numUpdates, assignments });
  if (recipe.reward.components.some(({ module }) => module !== undefined)) {
    const { RewardScorer } = await import('@retrace/scoring');
    await RewardScorer.load(recipe.reward);
  }
  if (typeof recipe.environment !== 'string') {
    const { readEnvironment } = await import('@retrace/environment-sources');
    requireFit(recipe, await readEnvironment(recipe.environment));
  }
  if (!recipe.tasks) return recipe;
  const { completeTasks } = await import('@retrace/environment-sources');
  return completeTasks(recipe);
}
