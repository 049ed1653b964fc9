import { newCommand, runArgument } from '../../options.js';

export const runsCommand = () =>
  newCommand('runs')
    .description('list the runs in a data directory, newest first')
    .addCommand(deleteCommand())
    .action(async (_, command) => (await import('./list.js')).list(command.optsWithGlobals()));

const deleteCommand = () =>
  newCommand('delete')
    .description('delete a run from log, store and checkpoints')
    .addArgument(runArgument('delete this run'))
    .option('--force', 'delete it even if other runs depend on it')
    .action(async (runId, _, command) =>
      (await import('./delete.js')).deleteOne(runId, command.optsWithGlobals()),
    );
