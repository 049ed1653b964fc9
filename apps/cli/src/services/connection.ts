import type { DataDirectory } from '@retrace/process';
import type { EventLog, LogLocation } from '@retrace/log';
import type { StoreClient } from '@retrace/store';
import { CREATED_BY } from '../installation.js';

/** An open log and store, for the time of one command. */
export interface StoreSession {
  readonly directory: DataDirectory;
  readonly storeUrl: string;
  /** Whether a server holds the directory. Otherwise only this command writes to the store. */
  readonly isLive: boolean;
  /** Whether others may write to the log meanwhile: a server, or commands that joined one, also where it has ended since. */
  readonly hasOtherWriters: boolean;
  readonly client: StoreClient;
  readonly log: EventLog;
  /** Brings the store up to date with the log; if a server runs, waits until its sink has done so. */
  catchUp(): Promise<void>;
}

interface StoreAddress {
  readonly storeUrl: string;
  readonly storeCluster?: string | null;
}

/** Opens a client of the store, with the user that may write. */
export async function openStoreClient(
  directory: DataDirectory,
  { storeUrl, storeCluster = null }: StoreAddress,
): Promise<StoreClient> {
  const { createStoreClient } = await import('@retrace/store');
  const { user, password } = directory.credentials();
  return createStoreClient({ url: storeUrl, username: user, password, cluster: storeCluster });
}

/** Opens the log and a client of the store for `work`, and closes both. */
export async function withConnection<T>(
  directory: DataDirectory,
  address: StoreAddress,
  logLocation: LogLocation,
  work: (connection: { readonly client: StoreClient; readonly log: EventLog }) => Promise<T>,
): Promise<T> {
  const { openLog } = await import('@retrace/log');
  const log = await openLog(logLocation, CREATED_BY);
  const client = await openStoreClient(directory, address);
  try {
    return await work({ client, log });
  } finally {
    await client.close();
    await log.close();
  }
}
