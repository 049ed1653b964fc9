import { Option } from '@commander-js/extra-typings';
import { newCommand, setOption, wholeNumber } from '../../options.js';

export const doctorCommand = () =>
  newCommand('doctor')
    .description(
      'check this machine, and the data directory or the services that the environment names; exits 1 if Retrace can’t work',
    )
    .option('--recipe <name-or-file>', 'also check whether this recipe fits into memory')
    .addOption(setOption())
    .addOption(new Option('--engine <kind>', 'also check what this engine needs').choices(['torch'] as const))
    .option('--engine-python <program>', 'Python that --engine torch runs in', 'python3')
    .option('--port <number>', 'port for the API', wholeNumber(0, 65_535), 8787)
    .action(async (_, command) => (await import('./doctor.js')).doctor(command.optsWithGlobals()));
