import {
  explainRecipe,
  listAlgorithms,
  listRecipes,
  resolveRecipe,
  withoutExpertDefaults,
} from '@retrace/config';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { renderTable } from '../../terminal/table.js';

interface RecipesOptions extends CommonOptions {
  readonly all?: true;
  readonly algorithms?: true;
  readonly explain?: true;
}

/**
 * Prints the recipe of that name as JSON, with comments where they are asked for, or the list of all recipes, or of all algorithms. Fields for experts that have
 * their default are left out, unless all are asked for; a program that asks for JSON gets them all.
 *
 * @throws CliError `OPTION_INVALID` for comments on no recipe, or in JSON, which has none
 */
export async function printRecipes(
  name: string | undefined,
  { json, all, algorithms, explain }: RecipesOptions,
): Promise<void> {
  if (explain === true) requireExplainable(name, json === true);
  if (name !== undefined) {
    const whole = JSON.parse(JSON.stringify(resolveRecipe(name))) as object;
    const recipe = all === true || json === true ? whole : await withoutExpertDefaults(whole);
    console.log(explain === true ? await explainRecipe(recipe) : JSON.stringify(recipe, null, 2));
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

function requireExplainable(name: string | undefined, isJson: boolean): void {
  if (name === undefined)
    throw new CliError(
      'OPTION_INVALID',
      '--explain comments on the fields of one recipe; give its name, as in "retrace recipes frozen-lake-ppo --explain"',
    );
  if (isJson)
    throw new CliError(
      'OPTION_INVALID',
      '--explain prints comments, which JSON has no place for; leave out --json',
    );
}
