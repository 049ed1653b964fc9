import { backendOption, newCommand, runOption, wholeNumberOrLatest } from '../../options.js';

export const replayCommand = () =>
  newCommand('replay')
    .description(
      're-run a recorded update from its manifest, after those since the nearest checkpoint; exits 1 if the loss differs, 3 if it can’t tell',
    )
    .addOption(runOption('re-run an update of this run').default('latest'))
    .requiredOption(
      '--update <number>',
      'number of the update, or "latest" for the newest of the run',
      wholeNumberOrLatest(1),
    )
    .addOption(backendOption())
    .action(async (_, command) => (await import('./replay.js')).replay(command.optsWithGlobals()));
