import { newCommand, wholeNumber } from '../../options.js';

export const storeCommand = () =>
  newCommand('store')
    .description('run only the store: ClickHouse’s HTTP protocol on loopback, for curl, Grafana or DBeaver')
    .option('--port <number>', 'port to listen on, 0 = any', wholeNumber(0, 65_535), 8123)
    .action(async (_, command) => (await import('./serve-store.js')).serveStore(command.optsWithGlobals()));
