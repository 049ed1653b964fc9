import { Command } from '@commander-js/extra-typings';
import { collect, dataDirOption, jsonOption, verboseOption, wholeNumber } from '../../options.js';

export const doctorCommand = () =>
  new Command('doctor')
    .description(
      'check this machine, and the data directory or the services that the environment names; exits 1 when Retrace cannot work',
    )
    .option('--recipe <name-or-file>', 'also check whether this recipe fits into memory')
    .option('--set <key=value>', 'override a recipe field; can be repeated', collect)
    .option('--port <number>', 'port for the API', wholeNumber(0, 65_535), 8787)
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => (await import('./doctor.js')).doctor(options));
