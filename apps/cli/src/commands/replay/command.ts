import { backendOption, newCommand, wholeNumber } from '../../options.js';

export const replayCommand = () =>
  newCommand('replay')
    .description(
      're-run a recorded update from its manifest, and those before it that lead to its state where that is not kept; exits 1 when the loss differs',
    )
    .option('--run <id>', 'run id, or "latest" for the newest run that has an update', 'latest')
    .requiredOption('--update <number>', 'update to re-run', wholeNumber(1))
    .addOption(backendOption())
    .action(async (_, command) => (await import('./replay.js')).replay(command.optsWithGlobals()));
