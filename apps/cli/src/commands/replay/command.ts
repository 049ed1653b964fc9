import { backendOption, newCommand, wholeNumber } from '../../options.js';

export const replayCommand = () =>
  newCommand('replay')
    .description(
      're-run a recorded update from its manifest; exits 1 when the loss differs, 3 when its files are gone',
    )
    .option('--run <id>', 'run id, or "latest" for the newest run that has an update', 'latest')
    .requiredOption('--update <number>', 'update to re-run', wholeNumber(1))
    .addOption(backendOption())
    .action(async (_, command) => (await import('./replay.js')).replay(command.optsWithGlobals()));
