/** The store's process: chDB behind ClickHouse's HTTP protocol. Its environment says which directory, address and users to serve. */
import { requireVariable, runRole, superviseThisProcess } from '@retrace/process';
import { startStoreServer } from '@retrace/store-server';
import { once } from 'node:events';

/** Time for the answers under way once the disk has failed. */
const ANSWER_MS = 200;

await runRole(async () => {
  const { signal, send } = superviseThisProcess({ graceMs: 10_000 });
  const server = await startStoreServer({
    dataDirectory: requireVariable('RETRACE_STORE_DIRECTORY'),
    host: requireVariable('RETRACE_STORE_HOST'),
    port: Number(requireVariable('RETRACE_STORE_PORT')),
    users: [
      {
        name: requireVariable('RETRACE_STORE_USER'),
        password: requireVariable('RETRACE_STORE_PASSWORD'),
        access: 'full',
      },
      {
        name: requireVariable('RETRACE_STORE_READONLY_USER'),
        password: requireVariable('RETRACE_STORE_READONLY_PASSWORD'),
        access: 'readonly',
      },
    ],
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
});
