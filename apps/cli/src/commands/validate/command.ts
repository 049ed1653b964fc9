import { backendOption, metricsPortOption, newCommand, runOption } from '../../options.js';

export const validateCommand = () =>
  newCommand('validate')
    .description(
      'show the validations of a run; with --work, validate its policies as a process of a run on Kafka, until the run ends',
    )
    .addOption(runOption('the run').default('latest'))
    .option(
      '--work',
      'validate and test policies of the run, and end it (waits for an unfinished training run)',
    )
    .addOption(metricsPortOption('with --work, the metrics of this validator'))
    .addOption(backendOption())
    .action(async (_, command) => {
      const { work, ...options } = command.optsWithGlobals();
      if (work === true) return (await import('./validate-run.js')).validateRun(options);
      return (await import('./show-validations.js')).showValidations(options);
    });
