import {
  acceptOtherLogOption,
  algorithmOption,
  backendOption,
  collectorsOption,
  engineOptions,
  initFromOption,
  metricsFileOption,
  metricsPortOption,
  newCommand,
  niceOption,
  overridesOption,
  setOption,
  tensorboardOption,
  wholeNumber,
} from '../../options.js';

export const trainCommand = () => {
  const command = newCommand('train')
    .description(
      'run a recipe to its end, without API or dashboard; resumes an unfinished run of the same recipe. With --from it trains on stored episodes, by default with the recipe of their run',
    )
    .option('--recipe <name-or-file>', 'built-in recipe (see "retrace recipes") or a .json or .jsonc file')
    .option(
      '--from <sql>',
      'train on the episodes that this SELECT chooses (run_id, episode_id), collecting none',
    )
    .option('--from-run <run>', 'train on the groups that another run collected for training')
    .option('--from-dataset <name>', 'train on the episodes of a data set')
    .option('--updates <number>', 'number of policy updates, instead of the recipe’s', wholeNumber(1))
    .option('--seed <number>', 'seed, instead of the recipe’s', wholeNumber(0))
    .addOption(algorithmOption())
    .addOption(initFromOption())
    .addOption(overridesOption())
    .addOption(setOption())
    .addOption(collectorsOption())
    .addOption(niceOption())
    .addOption(metricsFileOption())
    .addOption(tensorboardOption())
    .addOption(
      metricsPortOption(
        'metrics of the trainer, and at the next ones those of the collectors and the validator,',
      ),
    )
    .option(
      '--no-store',
      'train without a store: log, checkpoints and files of metrics; "retrace rebuild" makes the store afterwards',
    )
    .option(
      '--dry-run',
      'check the fields of the recipe, and print each role and server that would be started and each server that must answer; starts nothing',
    )
    .addOption(acceptOtherLogOption())
    .addOption(backendOption());
  for (const option of engineOptions()) command.addOption(option);
  return command.action(async (_, command) => (await import('./train.js')).train(command.optsWithGlobals()));
};
