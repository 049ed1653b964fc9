import {
  acceptOtherLogOption,
  backendOption,
  collect,
  collectorsOption,
  newCommand,
  wholeNumber,
} from '../../options.js';

export const trainCommand = () =>
  newCommand('train')
    .description(
      'run a recipe to its end, without API or dashboard; resumes an unfinished run of the same recipe',
    )
    .requiredOption('--recipe <name-or-file>', 'built-in recipe (see "retrace recipes") or a .json file')
    .option('--updates <number>', 'number of policy updates, instead of the recipe’s', wholeNumber(1))
    .option('--seed <number>', 'seed, instead of the recipe’s', wholeNumber(0))
    .option('--set <key=value>', 'override a recipe field; can be repeated', collect)
    .addOption(collectorsOption())
    .addOption(acceptOtherLogOption())
    .addOption(backendOption())
    .action(async (_, command) => (await import('./train.js')).train(command.optsWithGlobals()));
