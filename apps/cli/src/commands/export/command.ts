import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const exportCommand = () =>
  new Command('export')
    .description('write a run to a single file (an Arrow IPC stream), to keep it or import it elsewhere')
    .requiredOption('--run <id>', 'run to export')
    .requiredOption('--output <file>', 'file to write; replaced if it exists')
    .option('--checkpoints', 'include its checkpoint files')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => (await import('./export-run.js')).exportRunToFile(options));
