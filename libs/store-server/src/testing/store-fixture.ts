import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStoreServer } from '../store-server.js';
import { openLmdbLog } from '@retrace/log/lmdb';
import { DEFAULT_MAX_EVENT_BYTES, type EventLog } from '@retrace/log';
import { createStoreClient, type StoreClient } from '@retrace/store';
import { placeMigratedStore } from './store-template.js';

/** A store with the current schema and an empty log, both real, in a directory that `close` deletes. */
export interface StoreFixture {
  readonly client: StoreClient;
  readonly log: EventLog;
  readonly url: string;
  readonly directory: string;
  /** A client of the read-only user; the caller closes it. */
  openReader(): StoreClient;
  close(): Promise<void>;
}

export async function openStoreFixture({
  numTrajectoryPartitions = 2,
  maxEventBytes = DEFAULT_MAX_EVENT_BYTES,
} = {}): Promise<StoreFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'retrace-store-'));
  const password = 'fixture';
  const dataDirectory = join(directory, 'store');
  await placeMigratedStore(dataDirectory);
  const server = await startStoreServer({
    dataDirectory,
    host: '127.0.0.1',
    port: 0,
    users: [
      { name: 'retrace', password, access: 'full' },
      { name: 'reader', password, access: 'readonly' },
    ],
  });
  const client = createStoreClient({ url: server.url, username: 'retrace', password });
  const path = join(directory, 'log');
  const log = await openLmdbLog({ path, createdBy: 'test', numTrajectoryPartitions, maxEventBytes });
  return {
    client,
    log,
    url: server.url,
    directory,
    openReader: () => createStoreClient({ url: server.url, username: 'reader', password }),
    async close() {
      await log.close();
      await client.close();
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}
