import { Option } from '@commander-js/extra-typings';
import { acceptOtherLogOption, newCommand } from '../../options.js';

export const sinkCommand = () =>
  newCommand('sink')
    .description('write the log on Kafka to the store until stopped; several can run side by side')
    .addOption(
      new Option(
        '--share <number/count>',
        'which of several sinks this is, such as 1/3; each writes its share of the partitions',
      )
        .env('RETRACE_SINK_SHARE')
        .default(''),
    )
    .addOption(acceptOtherLogOption())
    .action(async (_, command) => (await import('./run-sink.js')).runSink(command.optsWithGlobals()));
