/** One process of the pipeline: `store <directory>` or `sink <JSON of { log, storeUrl }>`. It exits when the process that forked it does. */
import { createStoreClient, Sink } from '@retrace/store';
import { openLog } from '@retrace/log';
import { startStoreServer } from '@retrace/store-server';
import { STORE_USER } from './pipeline-processes.mjs';

const [role, argument] = process.argv.slice(2);
process.once('disconnect', () => process.exit());

if (role === 'store') {
  const users = [{ name: STORE_USER.username, password: STORE_USER.password, access: 'full' }];
  const server = await startStoreServer({ dataDirectory: argument, host: '127.0.0.1', port: 0, users });
  process.send({ url: server.url });
} else {
  const { log: location, storeUrl } = JSON.parse(argument);
  const log = await openLog(location, 'bench');
  const client = createStoreClient({ url: storeUrl, ...STORE_USER });
  const onProgress = ({ partitions }) => {
    for (const { stream, nextOffset, numInserts, lastFailure } of partitions) {
      if (lastFailure) throw new Error(`sink: ${lastFailure.message}`);
      if (stream === 'trajectories') process.send({ nextOffset, numInserts });
    }
  };
  const running = new Sink().run({ log, client, signal: new AbortController().signal, onProgress });
  process.send({ ready: true });
  await running;
}
