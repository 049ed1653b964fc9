import { existsSync } from 'node:fs';
import { dataDirectoryAt, locateLog } from '../data-directory/environment.js';
import { CliError } from '../cli-error.js';
import { joinServer } from '../data-directory/hold-data-directory.js';
import { errorsOnly } from '../supervisor/log-stream.js';
import { withConnection, type StoreSession } from './connection.js';
import { withOwnStore } from './own-store.js';
import { readServices, type Services } from './services.js';

interface StoreSessionOptions {
  readonly dataDir: string;
  /** Whether to create a missing data directory (default false: a missing one is an error). */
  readonly create?: boolean;
  /** Whether to bring a store that is started for this up to date with the log first (default true). */
  readonly upToDate?: boolean;
}

/**
 * Runs `work` on the log and store that the environment names; otherwise on those of a data directory, with the store of the
 * running server, or one that is started for this and brought up to date with the log.
 *
 * @throws CliError `DATA_DIRECTORY_UNUSABLE` when there is no data directory, and what `work` throws
 */
export async function withStore<T>(
  { dataDir, create = false, upToDate = true }: StoreSessionOptions,
  work: (session: StoreSession) => Promise<T>,
): Promise<T> {
  const services = readServices(dataDir);
  if (services !== null) {
    return withLiveStore(services, work);
  }
  const directory = dataDirectoryAt(dataDir);
  const joined = await joinServer(dataDir);
  if (joined === null && !create && !existsSync(directory.log)) {
    throw new CliError(
      'DATA_DIRECTORY_UNUSABLE',
      `data directory ${dataDir}: holds no events yet; start with "retrace up", or name another with --data-dir`,
    );
  }
  if (joined === null) return withOwnStore({ dataDir, log: errorsOnly(process.stderr), upToDate }, work);
  const { storeUrl } = joined.server;
  try {
    const log = locateLog(directory);
    return await withLiveStore({ directory, storeUrl, storeCluster: null, log }, work);
  } finally {
    joined.lock.release();
  }
}

/** Runs `work` while other processes may write to the log and a sink of theirs writes to the store. */
async function withLiveStore<T>(services: Services, work: (session: StoreSession) => Promise<T>): Promise<T> {
  const { untilVisible } = await import('@retrace/store');
  const { directory, storeUrl } = services;
  return withConnection(directory, services, services.log, ({ client, log }) => {
    const catchUp = () => untilVisible(log, client);
    return work({ client, log, directory, storeUrl, isLive: true, hasOtherWriters: true, catchUp });
  });
}
