/** The store's process: chDB behind ClickHouse's HTTP protocol, told by its environment what to serve. */
import { runRole, superviseThisProcess } from '@retrace/config';
import { startStoreServer } from '@retrace/trajectory/store-server';
import { once } from 'node:events';
import { requireVariable } from './require-variable.js';

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
  });
  console.log(`ClickHouse engine ${server.version} on ${server.url}`);
  send({ type: 'ready', url: server.url });
  if (!signal.aborted) await once(signal, 'abort');
  await server.close();
});
