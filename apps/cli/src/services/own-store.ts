import type { DataDirectory } from '@retrace/process';
import { locateLog } from '../data-directory/environment.js';
import { holdDataDirectory, isJoined, requireNoneJoined } from '../data-directory/hold-data-directory.js';
import { installation } from '../installation.js';
import { defineStore } from '../roles/define-store.js';
import type { LogStream } from '../supervisor/log-stream.js';
import { Supervisor } from '../supervisor/supervisor.js';
import { withConnection, type StoreSession } from './connection.js';

interface OwnStoreOptions {
  readonly dataDir: string;
  readonly log: LogStream;
  /** Default: any free port. */
  readonly port?: number;
  /** Whether to bring the store up to date with the log first (default true). */
  readonly upToDate?: boolean;
  /** Whether the work replaces the log, so that nobody else may write to it (default false). */
  readonly replacesLog?: boolean;
}

interface HeldStore {
  readonly directory: DataDirectory;
  readonly storeUrl: string;
}

/** Starts the store on a data directory that no process holds, brings it up to date with the log, does the work and stops it. */
export function withOwnStore<T>(
  options: OwnStoreOptions,
  work: (session: StoreSession) => Promise<T>,
): Promise<T> {
  return withHeldStore(options, (store) =>
    withOwnSession(store, async (session) => {
      if (options.upToDate !== false) await session.catchUp();
      return work(session);
    }),
  );
}

/** Starts the store on a data directory that no process holds, does the work without its log, and stops the store. */
export async function withHeldStore<T>(
  { dataDir, log: logStream, port = 0, replacesLog = false }: Omit<OwnStoreOptions, 'upToDate'>,
  work: (store: HeldStore) => Promise<T>,
): Promise<T> {
  const { directory, lock } = await holdDataDirectory(dataDir, (message) => {
    logStream.write({ role: 'retrace', level: 'info', message });
  });
  const supervisor = new Supervisor({ log: logStream, lockFileDescriptors: [lock.fileDescriptor] });
  try {
    if (replacesLog) requireNoneJoined(directory, dataDir);
    const { url: storeUrl = '' } = await supervisor.start(
      await defineStore(directory, { log: logStream, port }),
    );
    return await work({ directory, storeUrl });
  } finally {
    await supervisor.stop();
    directory.withdrawServer();
    lock.release();
  }
}

/** Opens the log and a client of a store that this process started. */
export function withOwnSession<T>(
  { directory, storeUrl }: HeldStore,
  work: (session: StoreSession) => Promise<T>,
): Promise<T> {
  return withConnection(directory, { storeUrl }, locateLog(directory), async ({ client, log }) => {
    const { catchUp, migrate } = await import('@retrace/store');
    await migrate(client, { directory: installation.migrations });
    const hasOtherWriters = isJoined(directory);
    const ownCatchUp = () => catchUp(log, client);
    return work({ directory, storeUrl, isLive: false, hasOtherWriters, client, log, catchUp: ownCatchUp });
  });
}
