import { newCommand } from '../../options.js';

export const recipesCommand = () =>
  newCommand('recipes')
    .description('list the built-in recipes, or print one as JSON as a start for your own')
    .argument('[name]', 'recipe to print')
    .option('--explain', 'print it with a comment on each field, as a .jsonc file')
    .option('--all', 'print also the fields for experts that have their default')
    .option('--algorithms', 'list the algorithms that --algorithm takes')
    .action(async (name, _, command) => {
      await (await import('./print-recipes.js')).printRecipes(name, command.optsWithGlobals());
    })
    .addCommand(recipesDiffCommand());

const recipesDiffCommand = () =>
  newCommand('diff')
    .description('list the fields in which two recipes differ')
    .argument('<first>', 'built-in recipe, or a .json or .jsonc file')
    .argument('<second>', 'built-in recipe, or a .json or .jsonc file')
    .action(async (first, second, _, command) => {
      (await import('./print-differences.js')).printDifferences(first, second, command.optsWithGlobals());
    });
