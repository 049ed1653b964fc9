import { newCommand } from '../../options.js';

export const runsCommand = () =>
  newCommand('runs')
    .description('list the runs in a data directory, newest first')
    .addCommand(deleteCommand())
    .action(async (_, command) => (await import('./list.js')).list(command.optsWithGlobals()));

const deleteCommand = () =>
  newCommand('delete')
    .description('delete a run from log, store and checkpoints')
    .argument('<id>', 'run to delete')
    .option('--force', 'also when other runs depend on it')
    .action(async (runId, _, command) =>
      (await import('./delete.js')).deleteOne(runId, command.optsWithGlobals()),
    );
