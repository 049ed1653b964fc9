import { newCommand, runOption } from '../../options.js';

export const rebuildCommand = () =>
  newCommand('rebuild')
    .description(
      'rebuild the store from the log; readers see the existing rows until the new ones are complete',
    )
    .addOption(runOption('only the rows of this run'))
    .action(async (_, command) => (await import('./rebuild.js')).rebuild(command.optsWithGlobals()));
