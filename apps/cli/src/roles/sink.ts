/** The sink's process, where no API hosts it: carries the log into the store until it is told to stop, then catches up. */
import { readRoleConfig, runRole, superviseThisProcess } from '@retrace/config';
import { openLmdbLog } from '@retrace/trajectory/lmdb';
import { catchUp, createStoreClient, migrate, Sink } from '@retrace/trajectory/clickhouse';
import { createdBy } from '../installation.js';
import { requireVariable } from './require-variable.js';

await runRole(async () => {
  const { signal, send } = superviseThisProcess();
  const config = readRoleConfig(process.env);
  const log = await openLmdbLog({ path: config.logDirectory, createdBy });
  const client = createStoreClient({
    url: config.storeUrl,
    username: config.storeUser,
    password: config.storePassword,
  });
  await migrate(client, { directory: requireVariable('RETRACE_MIGRATIONS_DIRECTORY') });
  send({ type: 'ready' });
  await new Sink().run({ log, client, signal });
  await catchUp(log, client);
  await client.close();
  await log.close();
});
