import { once } from 'node:events';
import type { CommonOptions } from '../../options.js';
import { assertPortFree } from '../../server/free-port.js';
import { LOOPBACK } from '../../roles/role-definitions.js';
import { listenForStop } from '../../server/stop-requests.js';
import { withOwnStore } from '../../services/own-store.js';
import { createLogStream } from '../../supervisor/log-stream.js';

interface StoreOptions extends CommonOptions {
  readonly port: number;
}

const FORCED_EXIT_CODE = 130;

/** Serves the store of a data directory until asked to stop. */
export async function serveStore({ dataDir, port, json }: StoreOptions): Promise<void> {
  await assertPortFree(LOOPBACK, port);
  const log = createLogStream({ json: json === true, out: process.stdout });
  const stop = listenForStop(log, () => process.exit(FORCED_EXIT_CODE));
  await withOwnStore({ dataDir, port, log }, async ({ directory, storeUrl }) => {
    directory.announceServer({
      pid: process.pid,
      apiUrl: '',
      storeUrl,
      hasSink: false,
      startedAt: new Date().toISOString(),
    });
    log.write({ role: 'retrace', level: 'info', message: `store at ${storeUrl}; users in ${dataDir}` });
    if (!stop.signal.aborted) await once(stop.signal, 'abort');
  });
  stop.dispose();
}
