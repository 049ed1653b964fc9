import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../options.js';

const query = `
  SELECT run_id, name, environment, seed, started_at, ended_at, end_reason,
         (SELECT count() FROM episodes WHERE episodes.run_id = runs.run_id) AS num_episodes,
         (SELECT max(update_number) FROM updates WHERE updates.run_id = runs.run_id) AS num_updates
  FROM runs ORDER BY started_at DESC`;

export const runsCommand = () =>
  new Command('runs')
    .description('list the runs of a data directory, newest first')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ withStore }, { printQuery }] = await Promise.all([
        import('../session/store-session.js'),
        import('../output/print-query.js'),
      ]);
      await withStore(options, (session) => printQuery(session, query, options.json ? 'json' : 'table'));
    });
