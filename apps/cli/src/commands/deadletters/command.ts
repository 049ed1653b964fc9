import { newCommand, pointInTime, runOption, wholeNumber } from '../../options.js';

export const deadlettersCommand = () =>
  newCommand('deadletters')
    .description(
      'list or retry log records that could not be decoded: damaged, invalid, or written by newer code',
    )
    .addCommand(listCommand())
    .addCommand(retryCommand());

const listCommand = () =>
  newCommand('list')
    .description('list dead letters in log order, with what could be read of them')
    .addOption(runOption('only those of this run'))
    .option('--code <code>', 'only those with this code, such as UNKNOWN_VERSION or CHECKSUM_MISMATCH')
    .option('--since <time>', 'only those from this time on, in ISO 8601', pointInTime)
    .option('--until <time>', 'only those up to this time', pointInTime)
    .option('--limit <number>', 'list at most this many', wholeNumber(1, 100_000), 1_000)
    .action(async (_, command) => (await import('./list.js')).list(command.optsWithGlobals()));

const retryCommand = () =>
  newCommand('retry')
    .description('decode dead letters again, and store those that this version can read as ordinary rows')
    .addOption(runOption('only those of this run'))
    .option('--code <code>', 'only those with this code')
    .option('--since <time>', 'only those from this time on, in ISO 8601', pointInTime)
    .option('--until <time>', 'only those up to this time', pointInTime)
    .option('--dry-run', 'change nothing; print how many could be decoded')
    .action(async (_, command) => (await import('./retry.js')).retry(command.optsWithGlobals()));
