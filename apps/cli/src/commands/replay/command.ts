import { Command } from '@commander-js/extra-typings';
import { backendOption, dataDirOption, jsonOption, verboseOption, wholeNumber } from '../../options.js';

export const replayCommand = () =>
  new Command('replay')
    .description(
      're-run a recorded update from its manifest; exits 1 when the loss differs, 3 when its files are gone',
    )
    .option('--run <id>', 'run id, or "latest" for the newest run that has an update', 'latest')
    .requiredOption('--update <number>', 'update to re-run', wholeNumber(1))
    .addOption(backendOption())
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => (await import('./replay.js')).replay(options));
