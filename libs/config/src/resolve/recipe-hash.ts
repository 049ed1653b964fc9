import { createHash } from 'node:crypto';
import { withoutContents } from '../recipe/data-problems.js';
import { inHashedShape } from '../recipe/moved-fields.js';
import type { Recipe } from '../recipe/recipe.js';

/** SHA-256 over the recipe's canonical JSON (keys sorted), hex: without its engine and its division into processes, so that a run of it may go on with others. */
export function recipeHash(recipe: Recipe): string {
  return hashShape(recipe);
}

/** As `recipeHash`, of the recipe as its user wrote it: runs of one request have it in common, also when their data has grown since. */
export function requestHash(recipe: Recipe): string {
  return hashShape(withoutContents(recipe) as Recipe);
}

function hashShape(recipe: Pick<Recipe, 'loss' | 'advantage'>): string {
  const { engine: _, process: __, ...others } = inHashedShape(recipe) as Partial<Recipe>;
  return createHash('sha256')
    .update(JSON.stringify(sortKeys(others)))
    .digest('hex');
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sortKeys(entry)]),
  );
}
