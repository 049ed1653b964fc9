import { Command, Option } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const sinkCommand = () =>
  new Command('sink')
    .description('carry the event log on Kafka into the store, until stopped; as many at once as you like')
    .addOption(
      new Option('--share <number/count>', 'which of several sinks this is, such as 1/3; each takes its part')
        .env('RETRACE_SINK_SHARE')
        .default(''),
    )
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const { requireServices, runRoleAlone } = await import('../../services/run-role-alone.js');
      const services = requireServices('sink', options.dataDir);
      await runRoleAlone('sink', services, {
        variables: { RETRACE_SINK_SHARE: options.share },
        json: options.json === true,
      });
    });
