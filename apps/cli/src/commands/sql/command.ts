import { Command, Option } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

const formats = ['table', 'json', 'csv', 'arrow'] as const;

export const sqlCommand = () =>
  new Command('sql')
    .description('query runs, episodes, steps, updates, policies, metrics, groups')
    .argument('<query>', 'one SELECT in ClickHouse’s SQL; "-" reads it from standard input')
    .addOption(new Option('--format <format>', 'output format').choices(formats).default('table' as const))
    .addOption(dataDirOption())
    .addOption(jsonOption().implies({ format: 'json' as const }))
    .addOption(verboseOption())
    .addHelpText(
      'after',
      '\nExample:\n  retrace sql "SELECT avg(success) FROM episodes WHERE split = \'train\'"',
    )
    .action(async (query, options) => {
      const [{ withStore }, { printQuery }] = await Promise.all([
        import('../../services/store-session.js'),
        import('../../terminal/print-query.js'),
      ]);
      const sql = query === '-' ? await readStandardInput() : query;
      await withStore(options, (session) => printQuery(session, sql, options.format));
    });

async function readStandardInput(): Promise<string> {
  const { text } = await import('node:stream/consumers');
  return text(process.stdin);
}
