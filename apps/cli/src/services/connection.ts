import type { DataDirectory } from '@retrace/process';
import type { EventLog, LogLocation } from '@retrace/log';
import type { StoreClient } from '@retrace/store';
import { CREATED_BY } from '../installation.js';

/** An open log and store, for the time of one command. */
export interface StoreSession {
  readonly directory: DataDirectory;
  readonly storeUrl: string;
  /** Whether a server holds the directory. Otherwise only this command writes. */
  readonly isLive: boolean;
  readonly client: StoreClient;
  readonly log: EventLog;
  /** Brings the store up to date with the log; if a server runs, waits until its sink has done so. */
  catchUp(): Promise<void>;
}

/** Opens the log and a client of the store for `work`, and closes both. */
export async function withConnection<T>(
  directory: DataDirectory,
  { storeUrl, storeCluster = null }: { readonly storeUrl: string; readonly storeCluster?: string | null },
  logLocation: LogLocation,
  work: (connection: { readonly client: StoreClient; readonly log: EventLog }) => Promise<T>,
): Promise<T> {
  const [{ createStoreClient }, { openLog }] = await Promise.all([
    import('@retrace/store'),
    import('@retrace/log'),
  ]);
  const { user, password } = directory.credentials();
  const client = createStoreClient({ url: storeUrl, username: user, password, cluster: storeCluster });
  const log = await openLog(logLocation, CREATED_BY);
  try {
    return await work({ client, log });
  } finally {
    await client.close();
    await log.close();
  }
}
