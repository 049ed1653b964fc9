import { Command, Option } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption, wholeNumber } from '../../options.js';

export const apiCommand = () =>
  new Command('api')
    .description('serve API and dashboard over a log on Kafka and its store; as many at once as you like')
    .addOption(
      new Option('--port <number>', 'port, 0 = any')
        .env('RETRACE_API_PORT')
        .default(8787)
        .argParser(wholeNumber(0, 65_535)),
    )
    .option('--with-sink', 'carry the log into the store as well, where no "retrace sink" does')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const { requireServices, runRoleAlone } = await import('../../services/run-role-alone.js');
      const services = requireServices('api', options.dataDir);
      const variables = {
        RETRACE_API_PORT: String(options.port),
        RETRACE_SINK: options.withSink === true ? 'on' : 'off',
      };
      await runRoleAlone('api', services, { variables, json: options.json === true });
    });
