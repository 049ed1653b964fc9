import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption, wholeNumber } from '../../options.js';

export const scoreCommand = () =>
  new Command('score')
    .description(
      'score the stored episodes of a run with the rewards of a recipe; episodes scored already are kept',
    )
    .option('--run <id>', 'run id, or "latest"', 'latest')
    .option('--recipe <name-or-file>', 'recipe with the rewards (default: the recipe of the run)')
    .option('--name <name>', 'name of this reward version (default: the name of the recipe)')
    .option('--retry-missing', 'score again the episodes without a total')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .addCommand(diffCommand())
    .action(async (options) => (await import('./score.js')).score(options));

const diffCommand = () =>
  new Command('diff')
    .description('compare two reward versions over the episodes that both have scored')
    .argument('<a>', 'name or version')
    .argument('<b>', 'name or version')
    .option('--run <id>', 'run id, or "latest"', 'latest')
    .option('--split <name>', 'only episodes of this split, such as train or test')
    .option('--limit <n>', 'the most rows in each list', wholeNumber(0, 10_000), 10)
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (a, b, _options, command) =>
      // "score" takes options of the same names, and commander gives them to the outer command.
      (await import('./diff.js')).diff(a, b, command.optsWithGlobals()),
    );
