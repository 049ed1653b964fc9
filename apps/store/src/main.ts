/** The store as a process: chDB behind ClickHouse's HTTP protocol, configured by its environment. */
import { once } from 'node:events';
import { readStoreServerConfig, runProcess, type StoreServerConfig, type Supervised } from '@retrace/process';
import { startStoreServer } from '@retrace/store-server';

/** Time for the answers under way once the disk has failed. */
const ANSWER_MS = 200;
/** Time to close the engine once the supervisor has died. */
const GRACE_MS = 10_000;

async function runStore(
  { directory, host, port, users }: StoreServerConfig,
  { signal, send }: Supervised,
): Promise<void> {
  const server = await startStoreServer({
    dataDirectory: directory,
    host,
    port,
    users,
    onDiskFailure: (error) => {
      console.error(error.message);
      // Closing in order would let the engine continue with incomplete parts, so the process exits almost at once.
      setTimeout(() => process.exit(1), ANSWER_MS);
    },
  });
  console.log(`ClickHouse engine ${server.version} on ${server.url}`);
  send({ type: 'ready', url: server.url });
  if (!signal.aborted) await once(signal, 'abort');
  await server.close();
}

await runProcess(process.env, (supervised) => runStore(readStoreServerConfig(process.env), supervised), {
  graceMs: GRACE_MS,
});
