import { backendOption, collect, newCommand, runOption, wholeNumber } from '../../options.js';

export const whatifCommand = () =>
  newCommand('whatif')
    .description(
      'compare recorded updates with what they would have been under another loss, estimator, correction or reward; nothing is published',
    )
    .addOption(runOption('updates of this run').default('latest'))
    .requiredOption('--update <number>', 'number of the update', wholeNumber(1))
    .option('--to <number>', 'the updates from --update up to this one', wholeNumber(1))
    .option(
      '--set <key=value>',
      'another value of a field of the recipe in reward, advantage, loss, preference or optimizer; can be repeated',
      collect,
    )
    .option('--reward-version <name>', 'rewards from the scores of a reward version of the run')
    .option('--reward <name-or-file>', 'rewards of another recipe')
    .option('--tokens', 'list every action token of both updates (with --json)')
    .addOption(backendOption())
    .action(async (_, command) => (await import('./whatif.js')).whatIfOfUpdates(command.optsWithGlobals()));
