import { ConfigError } from '../config-error.js';
import type { Recipe } from '../recipe/recipe.js';
import { overrideRecipe } from './resolve-recipe.js';

/** Sections that decide what an update makes of its batch. */
const SECTIONS = ['reward', 'advantage', 'loss', 'preference'] as const;

/** Fields of other sections that do: of the optimizer those that are of its steps, not of the model that was trained; of a distillation all but the teacher. */
const FIELDS = {
  optimizer: ['learningRate', 'maxGradientNorm', 'epochs', 'miniBatchActionTokens', 'miniBatchSequences'],
  distillation: ['coefficient', 'withReward'],
} as const;

/**
 * The recipe of a run with other fields, for a question what its updates would have been with them.
 *
 * @param assignments `path.to.field=value`
 * @throws ConfigError `RECIPE_INVALID`; `WHAT_IF_INVALID` for a field that decides more than what an update makes of its batch
 */
export function whatIfRecipe(recorded: Recipe, assignments: readonly string[]): Recipe {
  const recipe = overrideRecipe(recorded, assignments);
  const kept = { ...recipe, ...pick(recorded, SECTIONS) };
  const optimizer = { ...recipe.optimizer, ...pick(recorded.optimizer, FIELDS.optimizer) };
  const distillation =
    recipe.distillation && recorded.distillation
      ? { ...recipe.distillation, ...pick(recorded.distillation, FIELDS.distillation) }
      : recipe.distillation;
  const others = { ...kept, optimizer, distillation };
  const differing = Object.keys({ ...recorded, ...recipe }).filter((name) => {
    const section = name as keyof Recipe;
    return JSON.stringify(others[section]) !== JSON.stringify(recorded[section]);
  });
  if (differing.length === 0) return recipe;
  const fields = Object.entries(FIELDS).flatMap(([section, names]) =>
    names.map((name) => `${section}.${name}`),
  );
  const allowed = [...SECTIONS, ...fields].join(', ');
  throw new ConfigError(
    'WHAT_IF_INVALID',
    `${differing.join(', ')} can't be changed for updates that were made already; these can: ${allowed}`,
  );
}

/** Fields of an object; one that it lacks is undefined. */
function pick<T extends object, K extends keyof T>(object: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, object[name]])) as Pick<T, K>;
}
