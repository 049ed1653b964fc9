import { once } from 'node:events';
import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption, wholeNumber } from '../../options.js';

export const storeCommand = () =>
  new Command('store')
    .description('run the store alone: ClickHouse’s HTTP protocol on loopback, for curl, Grafana or DBeaver')
    .option('--port <number>', 'port, 0 = any', wholeNumber(0, 65_535), 8123)
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ assertPortFree }, { loopback }, { withOwnStore }, { createLogStream }, { listenForStop }] =
        await Promise.all([
          import('../../server/free-port.js'),
          import('../../server/role-definitions.js'),
          import('../../services/own-store.js'),
          import('../../supervisor/log-stream.js'),
          import('../../server/stop-requests.js'),
        ]);
      await assertPortFree(loopback, options.port);
      const log = createLogStream({ json: options.json === true, out: process.stdout });
      const stop = listenForStop(log, () => process.exit(130));
      await withOwnStore(
        { dataDir: options.dataDir, port: options.port, log },
        async ({ directory, storeUrl }) => {
          directory.announceServer({
            pid: process.pid,
            apiUrl: '',
            storeUrl,
            startedAt: new Date().toISOString(),
          });
          log.write({
            role: 'retrace',
            level: 'info',
            message: `store at ${storeUrl}; users in ${options.dataDir}`,
          });
          if (!stop.signal.aborted) await once(stop.signal, 'abort');
        },
      );
      stop.dispose();
    });
