import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const runsCommand = () =>
  new Command('runs')
    .description('list the runs in a data directory, newest first')
    .addCommand(deleteCommand())
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => (await import('./list.js')).list(options));

const deleteCommand = () =>
  new Command('delete')
    .description('delete a run from log, store and checkpoints')
    .argument('<id>', 'run to delete')
    .option('--force', 'also when other runs depend on it')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (runId, _options, command) =>
      // "runs" takes options of the same names, and commander gives them to the outer command.
      (await import('./delete.js')).deleteOne(runId, command.optsWithGlobals()),
    );
