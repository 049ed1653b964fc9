import { newCommand, runOption } from '../../options.js';

export const exportCommand = () =>
  newCommand('export')
    .description('write a run to a single file (an Arrow IPC stream), to keep it or import it elsewhere')
    .addOption(runOption('export this run').makeOptionMandatory())
    .requiredOption('--output <file>', 'file to write; replaced if it exists')
    .option('--checkpoints', 'include its checkpoint files')
    .action(async (_, command) =>
      (await import('./export-run.js')).exportRunToFile(command.optsWithGlobals()),
    );
