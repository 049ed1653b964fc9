import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const importCommand = () =>
  new Command('import')
    .description('add a run that "export" wrote to a data directory that does not have it')
    .argument('<file>', 'file to read; checked completely before anything changes')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (path, options) => (await import('./import-run.js')).importRunFromFile(path, options));
