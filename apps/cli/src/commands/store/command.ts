import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption, wholeNumber } from '../../options.js';

export const storeCommand = () =>
  new Command('store')
    .description('run only the store: ClickHouse’s HTTP protocol on loopback, for curl, Grafana or DBeaver')
    .option('--port <number>', 'port to listen on, 0 = any', wholeNumber(0, 65_535), 8123)
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => (await import('./serve-store.js')).serveStore(options));
