import { newCommand } from '../../options.js';

export const exportCommand = () =>
  newCommand('export')
    .description('write a run to a single file (an Arrow IPC stream), to keep it or import it elsewhere')
    .requiredOption('--run <id>', 'run to export')
    .requiredOption('--output <file>', 'file to write; replaced if it exists')
    .option('--checkpoints', 'include its checkpoint files')
    .action(async (_, command) =>
      (await import('./export-run.js')).exportRunToFile(command.optsWithGlobals()),
    );
