import { listAlgorithms, listRecipes, resolveRecipe } from '@retrace/config';
import type { CommonOptions } from '../../options.js';
import { renderTable } from '../../terminal/table.js';

interface RecipesOptions extends CommonOptions {
  readonly algorithms?: true;
}

/** Prints the recipe of that name as JSON, or the list of all recipes, or of all algorithms. */
export function printRecipes(name: string | undefined, { json, algorithms }: RecipesOptions): void {
  if (name !== undefined) {
    console.log(JSON.stringify(resolveRecipe(name), null, 2));
    return;
  }
  const listed = algorithms === true ? listAlgorithms() : listRecipes();
  if (json === true) {
    console.log(JSON.stringify(listed, null, 2));
    return;
  }
  const columns = algorithms === true ? ['algorithm', 'description', 'source'] : ['recipe', 'description'];
  console.log(
    renderTable(
      columns,
      listed.map((entry) => Object.values(entry)),
    ),
  );
}
