/** The sink's process, where no API hosts it: carries the log into the store until it is told to stop. */
import { readRoleConfig, readShare, runRole, superviseThisProcess } from '@retrace/process';
import { openLog } from '@retrace/log';
import { catchUp, createStoreClient, migrate, Sink } from '@retrace/store';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createdBy } from '../installation.js';
import { requireVariable } from './require-variable.js';

/** How long the insert under way may take when asked to stop. */
const stopMs = 20_000;

await runRole(async () => {
  const { signal, send } = superviseThisProcess();
  const config = readRoleConfig(process.env);
  const log = await openLog(config.log, createdBy);
  const client = createStoreClient({
    url: config.storeUrl,
    username: config.storeUser,
    password: config.storePassword,
    cluster: config.storeCluster ?? null,
  });
  await migrate(client, { directory: requireVariable('RETRACE_MIGRATIONS_DIRECTORY') });
  send({ type: 'ready' });
  process.stdout.write(`info writing the log to ${config.storeUrl}\n`);
  const running = new Sink().run({
    log,
    client,
    signal,
    share: readShare(process.env, 'RETRACE_SINK_SHARE'),
    onNotice: (line) => {
      process.stderr.write(`sink: ${line.replaceAll('\n', ' ')}\n`);
    },
  });
  // What was on its way when log or store went away may try for minutes; the next sink reads where the store is.
  const stopped = once(signal, 'abort').then(() => sleep(stopMs, false, { ref: false }));
  if ((await Promise.race([running.then(() => true), stopped])) === false) return;
  // In a data directory nobody else will; on Kafka the log goes on without this sink.
  if (config.log.kind === 'lmdb') await catchUp(log, client);
  await client.close();
  await log.close();
});
