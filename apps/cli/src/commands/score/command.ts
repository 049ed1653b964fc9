import { newCommand, runOption, wholeNumber } from '../../options.js';

export const scoreCommand = () =>
  newCommand('score')
    .description(
      'score the stored episodes of a run with the rewards of a recipe; episodes scored already are kept',
    )
    .addOption(runOption('score this run').default('latest'))
    .option('--recipe <name-or-file>', 'recipe with the rewards (default: the recipe of the run)')
    .option('--name <name>', 'name of this reward version (default: the name of the recipe)')
    .option('--retry-missing', 'score again the episodes without a total')
    .addCommand(diffCommand())
    .action(async (_, command) => (await import('./score.js')).score(command.optsWithGlobals()));

const diffCommand = () =>
  newCommand('diff')
    .description('compare two reward versions over the episodes that both have scored')
    .argument('<a>', 'name or version')
    .argument('<b>', 'name or version')
    .addOption(runOption('compare in this run').default('latest'))
    .option('--split <name>', 'only episodes of this split, such as train or test')
    .option('--limit <n>', 'at most this many rows in each list', wholeNumber(0, 10_000), 10)
    .action(async (a, b, _, command) =>
      // "score" takes --run too, and commander gives it to the outer command.
      (await import('./diff.js')).diff(a, b, command.optsWithGlobals()),
    );
