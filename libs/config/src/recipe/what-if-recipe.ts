import { ConfigError } from '../config-error.js';
import type { Recipe } from './recipe.js';
import { overrideRecipe } from './resolve-recipe.js';

/** Sections that decide what an update makes of its batch. */
const SECTIONS = ['reward', 'advantage', 'loss', 'preference'] as const;

/** Fields of `optimizer` that belong to the steps of an update; the others are of the model that was trained. */
const STEP_FIELDS = [
  'learningRate',
  'maxGradientNorm',
  'epochs',
  'miniBatchActionTokens',
  'miniBatchSequences',
] as const;

/**
 * The recipe of a run with other fields, for a question what its updates would have been with them.
 *
 * @param assignments `path.to.field=value`
 * @throws ConfigError `RECIPE_INVALID`; `WHAT_IF_INVALID` for a field that decides more than what an update makes of its batch
 */
export function whatIfRecipe(recorded: Recipe, assignments: readonly string[]): Recipe {
  const recipe = overrideRecipe(recorded, assignments);
  const kept = { ...recipe, ...pick(recorded, SECTIONS) };
  const optimizer = { ...recipe.optimizer, ...pick(recorded.optimizer, STEP_FIELDS) };
  const differing = Object.keys({ ...recorded, ...recipe }).filter((name) => {
    const section = name as keyof Recipe;
    const changed = section === 'optimizer' ? optimizer : kept[section];
    return JSON.stringify(changed) !== JSON.stringify(recorded[section]);
  });
  if (differing.length === 0) return recipe;
  const allowed = [...SECTIONS, ...STEP_FIELDS.map((name) => `optimizer.${name}`)].join(', ');
  throw new ConfigError(
    'WHAT_IF_INVALID',
    `${differing.join(', ')} can't be changed for updates that were made already; these can: ${allowed}`,
  );
}

/** Fields of an object; one that it lacks is undefined. */
function pick<T extends object, K extends keyof T>(object: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, object[name]])) as Pick<T, K>;
}
