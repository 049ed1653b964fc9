import { Option } from '@commander-js/extra-typings';
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
  recipeOption,
  setOption,
  tensorboardOption,
  wholeNumber,
} from '../../options.js';

export const upCommand = () => {
  const command = newCommand('up')
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
    .addOption(algorithmOption())
    .addOption(initFromOption())
    .addOption(overridesOption())
    .addOption(setOption())
    .option(
      '--no-training',
      'begin no run: serve what agents record and what is stored, and train what waits in the queue of the page',
    )
    .option(
      '--no-proxy',
      'open no address at which agents are recorded and answered by the newest policy; else it is three ports behind that of the API, 8790, or at the next free one',
    )
    .addOption(collectorsOption())
    .addOption(niceOption())
    .addOption(metricsFileOption())
    .addOption(tensorboardOption())
    .addOption(
      metricsPortOption(
        'metrics of the trainer, and at the next ones those of the collectors and the validator,',
      ),
    )
    .addOption(acceptOtherLogOption())
    .addOption(backendOption());
  for (const option of engineOptions()) command.addOption(option);
  return command.action(async (_, command) => (await import('./up.js')).up(command.optsWithGlobals()));
};
