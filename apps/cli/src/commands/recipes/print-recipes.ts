import { explainRecipe, listAlgorithms, listRecipes, resolveRecipe } from '@retrace/config';
import type { CommonOptions } from '../../options.js';
import { renderTable } from '../../terminal/table.js';

interface RecipesOptions extends CommonOptions {
  readonly algorithms?: true;
  readonly explain?: true;
}

/** Prints the recipe of that name as JSON, with comments where they are asked for, or the list of all recipes, or of all algorithms. */
export async function printRecipes(
  name: string | undefined,
  { json, algorithms, explain }: RecipesOptions,
): Promise<void> {
  if (name !== undefined) {
    const text = JSON.stringify(resolveRecipe(name), null, 2);
    console.log(explain === true ? await explainRecipe(JSON.parse(text) as object) : text);
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
