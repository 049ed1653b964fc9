import { newCommand } from '../../options.js';

export const importCommand = () =>
  newCommand('import')
    .description('add a run that "export" wrote to a data directory that does not have it')
    .argument('<file>', 'file to read; checked completely before anything changes')
    .action(async (path, _, command) =>
      (await import('./import-run.js')).importRunFromFile(path, command.optsWithGlobals()),
    );
