import { Option } from '@commander-js/extra-typings';
import { acceptOtherLogOption, newCommand, wholeNumber } from '../../options.js';

export const apiCommand = () =>
  newCommand('api')
    .description('serve the API and dashboard of a log on Kafka and its store; several can run side by side')
    .addOption(
      new Option('--port <number>', 'port to listen on, 0 = any')
        .env('RETRACE_API_PORT')
        .default(8787)
        .argParser(wholeNumber(0, 65_535)),
    )
    .option('--with-sink', 'also write the log to the store, where no "retrace sink" does')
    .addOption(acceptOtherLogOption())
    .action(async (_, command) => (await import('./serve-api.js')).serveApi(command.optsWithGlobals()));
