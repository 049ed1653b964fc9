import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, pointInTime, verboseOption, wholeNumber } from '../../options.js';

export const deadlettersCommand = () =>
  new Command('deadletters')
    .description('records of the log that could not be decoded: damaged, invalid, or written by newer code')
    .addCommand(listCommand())
    .addCommand(retryCommand());

interface FilterOptions {
  readonly run?: string;
  readonly code?: string;
  readonly since?: number;
  readonly until?: number;
}

const listCommand = () =>
  new Command('list')
    .description('dead letters in log order, with what their envelope says')
    .option('--run <id>', 'only of this run')
    .option('--code <code>', 'only these, such as UNKNOWN_VERSION or CHECKSUM_MISMATCH')
    .option('--since <time>', 'only from this time on, in ISO 8601', pointInTime)
    .option('--until <time>', 'only up to this time', pointInTime)
    .option('--limit <number>', 'at most so many', wholeNumber(1, 100_000), 1_000)
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ withStore }, { listDeadLetters }, { renderRecords }] = await Promise.all([
        import('../../services/store-session.js'),
        import('@retrace/store'),
        import('../../terminal/table.js'),
      ]);
      const entries = await withStore(options, ({ client }) =>
        listDeadLetters(client, { ...filterOf(options), limit: options.limit }),
      );
      if (options.json) console.log(JSON.stringify(entries, null, 2));
      else console.log(entries.length === 0 ? 'no dead letters' : renderRecords(entries));
    });

const retryCommand = () =>
  new Command('retry')
    .description('decode dead letters anew and make ordinary rows of those that this version knows')
    .option('--run <id>', 'only of this run')
    .option('--code <code>', 'only these')
    .option('--since <time>', 'only from this time on, in ISO 8601', pointInTime)
    .option('--until <time>', 'only up to this time', pointInTime)
    .option('--dry-run', 'only say what would become of them')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ withStore }, { retryDeadLetters }] = await Promise.all([
        import('../../services/store-session.js'),
        import('@retrace/store'),
      ]);
      const dryRun = options.dryRun === true;
      const report = await withStore(options, ({ client, log: { maxEventBytes } }) =>
        retryDeadLetters({ client, maxEventBytes, dryRun, ...filterOf(options) }),
      );
      if (options.json) {
        console.log(JSON.stringify({ ...report, dryRun }, null, 2));
        return;
      }
      const { numDeadLetters, numDecoded, remaining } = report;
      const left = Object.entries(remaining).map(([code, count]) => `${String(count)} ${code}`);
      console.log(
        `${String(numDeadLetters)} dead letters: ${String(numDecoded)} ${dryRun ? 'can be decoded' : 'are ordinary rows now'}` +
          (left.length === 0 ? '' : `, the others stay (${left.join(', ')})`),
      );
    });

function filterOf({ run, code, since, until }: FilterOptions) {
  return {
    ...(run !== undefined && { runId: run }),
    ...(code !== undefined && { code }),
    ...(since !== undefined && { sinceUs: since * 1000 }),
    ...(until !== undefined && { untilUs: until * 1000 }),
  };
}
