import { ControlTail, openLog, WarningLog } from '@retrace/log';
import type { SinkConfig, Supervised } from '@retrace/process';
import { catchUp, createStoreClient, migrate, Sink } from '@retrace/store';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** The longest time that the current insert may take after the process was asked to stop. */
const STOP_MS = 20_000;

/** Writes the log to the store until the process is asked to stop. */
export async function runSink(config: SinkConfig, { signal, send, warn }: Supervised): Promise<void> {
  const log = await openLog(config.log, 'sink');
  const control = new ControlTail(log);
  const warnings = new WarningLog({ control, runId: '', show: warn });
  const client = createStoreClient(config.store);
  await migrate(client, { directory: config.migrationsDirectory });
  send({ type: 'ready' });
  process.stdout.write(`info writing the log to ${config.store.url}\n`);
  const running = new Sink().run({
    log,
    client,
    signal,
    share: config.share,
    refusesOtherLogs: !config.acceptsOtherLog,
    onNotice: (message) => {
      warnings.raise({ source: 'sink', message });
    },
  });
  // An insert may be retried for minutes while log or store is unavailable. The next sink resumes at the position in the store.
  const stopped = once(signal, 'abort').then(() => sleep(STOP_MS, false, { ref: false }));
  if ((await Promise.race([running.then(() => true), stopped])) === false) return;
  await warnings.flush();
  // On a data directory no other sink writes the rest of the log; on Kafka another one does.
  if (config.log.kind === 'lmdb') await catchUp(log, client);
  await client.close();
  await log.close();
}
