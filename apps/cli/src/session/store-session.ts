import { existsSync } from 'node:fs';
import { DataDirectory } from '@retrace/config';
import type { EventLog } from '@retrace/trajectory';
import type { StoreClient } from '@retrace/trajectory/clickhouse';
import { CliError } from '../cli-error.js';
import { findServer } from '../data-directory/hold-data-directory.js';
import { createdBy } from '../installation.js';
import { errorsOnly } from '../supervisor/log-stream.js';
import { withOwnStore } from './own-store.js';

/** A store that holds what the log holds, for the time of one command. */
export interface StoreSession {
  readonly directory: DataDirectory;
  readonly storeUrl: string;
  /** Whether a server holds the directory; else nothing but this command writes meanwhile. */
  readonly isLive: boolean;
  readonly client: StoreClient;
  readonly log: EventLog;
  /** Brings the store to where the log is; where a server runs, its own sink does that. */
  catchUp(): Promise<void>;
}

export interface StoreSessionOptions {
  readonly dataDir: string;
  /** Whether to make a data directory that isn't there; else it is an error. */
  readonly create?: boolean;
}

/**
 * Works on the store of a data directory: the running server's, or one started for this and brought up to date with the log.
 *
 * @throws CliError `DATA_DIRECTORY_UNUSABLE` when there is no data directory, and what `work` throws
 */
export async function withStore<T>(
  { dataDir, create = false }: StoreSessionOptions,
  work: (session: StoreSession) => Promise<T>,
): Promise<T> {
  const directory = new DataDirectory(dataDir);
  if (!create && !existsSync(directory.log)) {
    throw new CliError(
      'DATA_DIRECTORY_UNUSABLE',
      `data directory ${dataDir}: nothing was collected there yet; start with "retrace up", or name another with --data-dir`,
    );
  }
  const server = await findServer(dataDir);
  if (server === null) return withOwnStore({ dataDir, log: errorsOnly(process.stderr) }, work);
  const { storeUrl } = server;
  return withConnection(directory, storeUrl, (connection) =>
    work({ ...connection, directory, storeUrl, isLive: true, catchUp: () => Promise.resolve() }),
  );
}

/** Opens the log and a client of the store for `work`, and closes both. */
export async function withConnection<T>(
  directory: DataDirectory,
  storeUrl: string,
  work: (connection: { readonly client: StoreClient; readonly log: EventLog }) => Promise<T>,
): Promise<T> {
  const [{ createStoreClient }, { openLmdbLog }] = await Promise.all([
    import('@retrace/trajectory/clickhouse'),
    import('@retrace/trajectory/lmdb'),
  ]);
  const { user, password } = directory.credentials();
  const client = createStoreClient({ url: storeUrl, username: user, password });
  const log = await openLmdbLog({ path: directory.log, createdBy });
  try {
    return await work({ client, log });
  } finally {
    await client.close();
    await log.close();
  }
}
