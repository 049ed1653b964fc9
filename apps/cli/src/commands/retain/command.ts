import { durationMs, newCommand } from '../../options.js';

export const retainCommand = () =>
  newCommand('retain')
    .description('delete runs that are older than a given age')
    .requiredOption(
      '--older-than <age>',
      'time since the last event of a run, such as 30d, 12h or 45m',
      durationMs,
    )
    .option('--dry-run', 'delete nothing; list what would be deleted')
    .option('--force', 'also delete runs that younger runs depend on')
    .action(async (_, command) => (await import('./retain.js')).retain(command.optsWithGlobals()));
