import { Option } from '@commander-js/extra-typings';
import { newCommand, runOption } from '../../options.js';

export const rebuildCommand = () =>
  newCommand('rebuild')
    .description(
      'rebuild the store from the log; readers see the existing rows until the new ones are complete',
    )
    .addOption(runOption('only the rows of this run'))
    .addOption(
      new Option('--accept-other-log', 'drop rows of another log, which this one can not make again'),
    )
    .addOption(
      new Option(
        '--log-from-store',
        'the other way round: write a lost or damaged log again from the store',
      ).conflicts(['run', 'acceptOtherLog']),
    )
    .option('--log <id>', 'with --log-from-store: which log, where the store has events of several')
    .action(async (_, command) => {
      const options = command.optsWithGlobals();
      if (options.logFromStore === true)
        await (await import('./log-from-store.js')).writeLogFromStore(options);
      else await (await import('./rebuild.js')).rebuild(options);
    });
