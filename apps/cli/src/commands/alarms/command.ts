import { Argument } from '@commander-js/extra-typings';
import { newCommand, runOption } from '../../options.js';

export const alarmsCommand = () =>
  newCommand('alarms')
    .description('list alarms, newest first, with what people did about them')
    .addOption(runOption('only those of this run'))
    .addCommand(acknowledgeCommand())
    .addCommand(silenceCommand())
    .addCommand(unsilenceCommand())
    .action(async (_, command) => (await import('./list.js')).list(command.optsWithGlobals()));

const alarmArgument = () =>
  new Argument(
    '<alarm>',
    'rule of the alarm, such as entropyCollapse or runFailed; "alarm" for those without a rule',
  );

const acknowledgeCommand = () =>
  newCommand('ack')
    .description('acknowledge the open alarms of a rule; they go to no webhook until they come again')
    .addArgument(alarmArgument())
    .addOption(runOption('only those of this run'))
    .option('--note <text>', 'what is known of it, or done about it')
    .action(async (alarm, _, command) =>
      (await import('./handle.js')).acknowledge(alarm, command.optsWithGlobals()),
    );

const silenceCommand = () =>
  newCommand('silence')
    .description('send no alarms of a rule to the webhook for a while')
    .addArgument(alarmArgument())
    .requiredOption(
      '--until <moment>',
      'a time in ISO 8601, or how long from now: 30m, 1h, 7d; at most 90 days',
    )
    .requiredOption('--reason <text>', 'why')
    .addOption(runOption('only those of this run'))
    .action(async (alarm, _, command) =>
      (await import('./handle.js')).silence(alarm, command.optsWithGlobals()),
    );

const unsilenceCommand = () =>
  newCommand('unsilence')
    .description('end the silence of a rule; of one run where it was silenced in that run')
    .addArgument(alarmArgument())
    .addOption(runOption('the silence of this run'))
    .action(async (alarm, _, command) =>
      (await import('./handle.js')).unsilence(alarm, command.optsWithGlobals()),
    );
