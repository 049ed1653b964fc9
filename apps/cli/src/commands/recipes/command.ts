import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const recipesCommand = () =>
  new Command('recipes')
    .description('list the built-in recipes, or print one as JSON as a start for your own')
    .argument('[name]', 'recipe to print')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (name, options) => {
      (await import('./print-recipes.js')).printRecipes(name, options);
    });
