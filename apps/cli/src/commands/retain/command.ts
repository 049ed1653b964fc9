import { Command } from '@commander-js/extra-typings';
import { dataDirOption, durationMs, jsonOption, verboseOption } from '../../options.js';

export const retainCommand = () =>
  new Command('retain')
    .description('delete the runs that are older than a given age')
    .requiredOption(
      '--older-than <age>',
      'time since the last event of a run, such as 30d, 12h or 45m',
      durationMs,
    )
    .option('--dry-run', 'only say which')
    .option('--force', 'also those that the lineage of younger runs leads to')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ withStore }, { applyRetention }, { renderRecords }] = await Promise.all([
        import('../../services/store-session.js'),
        import('../../run/delete-run.js'),
        import('../../terminal/table.js'),
      ]);
      const report = await withStore(options, (session) =>
        applyRetention(session, {
          beforeMs: Date.now() - options.olderThan,
          dryRun: options.dryRun === true,
          force: options.force === true,
        }),
      );
      if (options.json) {
        console.log(JSON.stringify(report, null, 2));
        return;
      }
      const { deleted, kept, dryRun } = report;
      if (deleted.length > 0) console.log(renderRecords(deleted));
      for (const { reason } of kept) console.log(`kept: ${reason}`);
      console.log(`${String(deleted.length)} runs ${dryRun ? 'would be deleted' : 'are deleted'}`);
    });
