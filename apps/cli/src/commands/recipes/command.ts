import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const recipesCommand = () =>
  new Command('recipes')
    .description('list the built-in recipes, or print one as JSON to start a file of your own from')
    .argument('[name]', 'recipe to print')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (name, options) => {
      const { listRecipes, resolveRecipe } = await import('@retrace/config');
      if (name !== undefined) {
        console.log(JSON.stringify(resolveRecipe(name), null, 2));
        return;
      }
      const recipes = listRecipes();
      if (options.json) {
        console.log(JSON.stringify(recipes, null, 2));
        return;
      }
      const { renderTable } = await import('../../terminal/table.js');
      console.log(
        renderTable(
          ['recipe', 'description'],
          recipes.map((recipe) => [recipe.name, recipe.description]),
        ),
      );
    });
