import type { DataDirectory } from '@retrace/process';
import type { LogStream } from '../supervisor/log-stream.js';
import type { ReadyMessage } from '../supervisor/role-process.js';
import type { Supervisor } from '../supervisor/supervisor.js';
import { storeRole } from './role-definitions.js';

interface StartStoreOptions {
  readonly log: LogStream;
  /** Default: any free port. */
  readonly port?: number;
}

/**
 * Starts the embedded store. Where npm did not install its engine with Retrace, it is downloaded first, once for all data directories.
 *
 * @throws StoreServerError `STORE_ENGINE_UNAVAILABLE`; the errors of `Supervisor.start`
 */
export async function startStore(
  supervisor: Supervisor,
  directory: DataDirectory,
  { log, port = 0 }: StartStoreOptions,
): Promise<ReadyMessage> {
  const { ensureEngine } = await import('@retrace/store-server/engine-package');
  const engine = await ensureEngine({
    onProgress: (message, fraction) => {
      log.progress('store', message, fraction);
    },
  });
  return supervisor.start(storeRole(directory, { port, engine }));
}
