import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const rebuildCommand = () =>
  new Command('rebuild')
    .description(
      'rebuild the store from the log; readers see the existing rows until the new ones are complete',
    )
    .option('--run <id>', 'only the rows of this run')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => (await import('./rebuild.js')).rebuild(options));
