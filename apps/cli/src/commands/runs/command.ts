import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

const query = `
  SELECT run_id, name, environment, seed, started_at, ended_at, end_reason,
         (SELECT count() FROM episodes WHERE episodes.run_id = runs.run_id) AS num_episodes,
         (SELECT max(update_number) FROM updates WHERE updates.run_id = runs.run_id) AS num_updates
  FROM runs ORDER BY started_at DESC`;

export const runsCommand = () =>
  new Command('runs')
    .description('list the runs of a data directory, newest first')
    .addCommand(deleteCommand())
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ withStore }, { printQuery }] = await Promise.all([
        import('../../services/store-session.js'),
        import('../../terminal/print-query.js'),
      ]);
      await withStore(options, (session) => printQuery(session, query, options.json ? 'json' : 'table'));
    });

const deleteCommand = () =>
  new Command('delete')
    .description('take a run out of log, store and checkpoints')
    .argument('<id>', 'run to delete')
    .option('--force', 'also when the lineage of other runs leads to it')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (runId, _options, command) => {
      const options = command.optsWithGlobals();
      const [{ withStore }, { deleteRunOf }] = await Promise.all([
        import('../../services/store-session.js'),
        import('../../run/delete-run.js'),
      ]);
      const report = await withStore(options, (session) =>
        deleteRunOf(session, { runId, force: options.force === true, detail: 'by request' }),
      );
      if (options.json) {
        console.log(JSON.stringify(report));
        return;
      }
      const { numRows, numReleased, numCheckpointFiles } = report;
      console.log(
        `run ${runId} is deleted: ${numRows.toLocaleString('en')} rows, ${String(numCheckpointFiles)} checkpoint files, ` +
          (numReleased === null
            ? 'no records: this kind of log keeps them'
            : `${numReleased.toLocaleString('en')} records of the log`),
      );
    });
