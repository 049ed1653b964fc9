import { listRecipes, resolveRecipe } from '@retrace/config';
import type { CommonOptions } from '../../options.js';
import { renderTable } from '../../terminal/table.js';

/** Prints the recipe of that name as JSON, or the list of all. */
export function printRecipes(name: string | undefined, { json }: CommonOptions): void {
  if (name !== undefined) {
    console.log(JSON.stringify(resolveRecipe(name), null, 2));
    return;
  }
  const recipes = listRecipes();
  if (json === true) {
    console.log(JSON.stringify(recipes, null, 2));
    return;
  }
  const rows = recipes.map((recipe) => [recipe.name, recipe.description]);
  console.log(renderTable(['recipe', 'description'], rows));
}
