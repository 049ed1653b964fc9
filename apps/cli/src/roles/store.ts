/** The store's process: chDB behind ClickHouse's HTTP protocol, told by its environment what to serve. */
import { readStoreServerConfig, runProcess } from '@retrace/process';
import { startStoreServer } from '@retrace/store-server';
import { once } from 'node:events';

const ANSWER_MS = 200;

await runProcess(
  process.env,
  async ({ signal, send }) => {
    const { directory, host, port, users } = readStoreServerConfig(process.env);
    const server = await startStoreServer({
      dataDirectory: directory,
      host,
      port,
      users,
      onDiskFailure: (error) => {
        console.error(error.message);
        // At once: closing in order would let the engine go on with parts that are not whole. The answers under way get a moment.
        setTimeout(() => process.exit(1), ANSWER_MS);
      },
    });
    console.log(`ClickHouse engine ${server.version} on ${server.url}`);
    send({ type: 'ready', url: server.url });
    if (!signal.aborted) await once(signal, 'abort');
    await server.close();
  },
  { graceMs: 10_000 },
);
