import { listRecipes, plainAssignments, resolveRecipe, type Recipe } from '@retrace/config';
import type { StartRequest } from '@retrace/process';
import { CliError } from '../cli-error.js';
import { overridesOf, readTrainingRecipe } from '../run/training-recipe.js';

const POLICY_OF_RUN = /^run:[A-Za-z0-9][A-Za-z0-9._-]{0,199}(@(latest|best|\d{1,15}))?$/;

/**
 * Checks what a caller of the API asks to be trained, who may name nothing but what is built in and stored: neither code, files, programs nor servers.
 * Reads no file, and asks nobody.
 *
 * @throws ConfigError `RECIPE_INVALID`; CliError `OPTION_INVALID`; both name the field
 */
export function requireStart(start: StartRequest): Recipe {
  return resolveRecipe(start.recipe, overridesOf(optionsOf(start), []));
}

/** The same, with everything that a run needs to know before it begins. @throws as `requireStart` and `readTrainingRecipe` */
export function recipeOfStart(start: StartRequest): Promise<Recipe> {
  return readTrainingRecipe({ recipe: start.recipe, ...optionsOf(start) });
}

function optionsOf({ recipe, algorithm, numUpdates, seed, initFrom, overrides = {} }: StartRequest) {
  const names = listRecipes().map(({ name }) => name);
  if (!names.includes(recipe)) {
    const rule = `must be one of the built-in recipes ${names.join(', ')}`;
    throw new CliError('OPTION_INVALID', `recipe: got ${JSON.stringify(recipe)}, ${rule}`);
  }
  if (initFrom !== undefined && !POLICY_OF_RUN.test(initFrom)) {
    const rule = 'must be "run:<run>", "run:<run>@<version>" or "run:<run>@best"';
    throw new CliError('OPTION_INVALID', `initFrom: got ${JSON.stringify(initFrom)}, ${rule}`);
  }
  return { algorithm, updates: numUpdates, seed, initFrom, set: plainAssignments(overrides) };
}
