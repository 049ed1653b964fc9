import { Option } from '@commander-js/extra-typings';
import {
  acceptOtherLogOption,
  backendOption,
  collect,
  collectorsOption,
  newCommand,
  recipeOption,
  wholeNumber,
} from '../../options.js';

export const upCommand = () =>
  newCommand('up')
    .description(
      'start everything: store, API, dashboard and a training run; resumes an unfinished run of the same recipe',
    )
    .addOption(recipeOption())
    .addOption(
      new Option('--port <number>', 'port of the API and dashboard, 0 = any')
        .default(8787)
        .argParser(wholeNumber(0, 65_535)),
    )
    .option('--updates <number>', 'number of policy updates, instead of the recipe’s', wholeNumber(1))
    .option('--seed <number>', 'seed, instead of the recipe’s', wholeNumber(0))
    .option('--set <key=value>', 'override a recipe field; can be repeated', collect)
    .option('--no-training', 'train nothing: only serve what agents record and what is stored')
    .addOption(collectorsOption())
    .addOption(acceptOtherLogOption())
    .addOption(backendOption())
    .action(async (_, command) => (await import('./up.js')).up(command.optsWithGlobals()));
