import { Command, Option } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

const FORMATS = ['table', 'json', 'csv', 'arrow'] as const;

export const sqlCommand = () =>
  new Command('sql')
    .description('run one SELECT on runs, episodes, steps, updates, policies, metrics, groups')
    .argument('<query>', 'one SELECT in ClickHouse’s SQL; "-" reads it from standard input')
    .addOption(new Option('--format <format>', 'output format').choices(FORMATS).default('table' as const))
    .addOption(dataDirOption())
    .addOption(jsonOption().implies({ format: 'json' as const }))
    .addOption(verboseOption())
    .addHelpText(
      'after',
      '\nExample:\n  retrace sql "SELECT avg(success) FROM episodes WHERE split = \'train\'"',
    )
    .action(async (query, options) => (await import('./sql.js')).sql(query, options));
