import { newCommand } from '../../options.js';

export const recipesCommand = () =>
  newCommand('recipes')
    .description('list the built-in recipes, or print one as JSON as a start for your own')
    .argument('[name]', 'recipe to print')
    .action(async (name, _, command) => {
      (await import('./print-recipes.js')).printRecipes(name, command.optsWithGlobals());
    });
