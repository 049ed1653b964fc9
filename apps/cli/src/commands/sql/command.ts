import { Option } from '@commander-js/extra-typings';
import { newCommand } from '../../options.js';

const FORMATS = ['table', 'json', 'csv', 'arrow'] as const;

export const sqlCommand = () =>
  newCommand('sql')
    .description('run one SELECT on runs, episodes, steps, updates, policies, metrics, groups')
    .argument('<query>', 'one SELECT in ClickHouse’s SQL; "-" reads it from standard input')
    .addOption(new Option('--format <format>', 'output format (default: "table")').choices(FORMATS))
    .option(
      '--as-of <moment>',
      'read what was known then: a time such as 2026-11-23T09:00:00Z, the id of an event, or "<run>@<update>", its commit',
    )
    .option('--explain', 'show what the query would read, and how it would be answered, without running it')
    .addHelpText(
      'after',
      '\nExample:\n  retrace sql "SELECT avg(success) FROM episodes WHERE split = \'train\'"',
    )
    .action(async (query, _, command) => (await import('./sql.js')).sql(query, command.optsWithGlobals()));
