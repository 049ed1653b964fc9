import type { DataDirectory } from '@retrace/process';
import type { LogStream } from '../supervisor/log-stream.js';
import type { RoleDefinition } from '../supervisor/role.js';
import { storeRole } from './role-definitions.js';

interface StoreOptions {
  readonly log: LogStream;
  /** Default: any free port. */
  readonly port?: number;
  /** Steps of priority (default 0). */
  readonly niceness?: number;
}

/**
 * Defines the embedded store. Where npm did not install its engine with Retrace, it is downloaded first, once for all data directories.
 *
 * @throws StoreServerError `STORE_ENGINE_UNAVAILABLE`
 */
export async function defineStore(
  directory: DataDirectory,
  { log, port = 0, niceness }: StoreOptions,
): Promise<RoleDefinition> {
  const { ensureEngine } = await import('@retrace/store-server/engine-package');
  const engine = await ensureEngine({
    onProgress: (message, fraction) => {
      log.progress('store', message, fraction);
    },
  });
  return storeRole(directory, { port, engine, niceness });
}
