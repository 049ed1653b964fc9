import { newCommand } from '../../options.js';

export const compactCommand = () =>
  newCommand('compact')
    .description(
      'remove what deletions left in the files of log and store; while no server runs, and takes up to some minutes',
    )
    .action(async (_, command) => (await import('./compact.js')).compact(command.optsWithGlobals()));
