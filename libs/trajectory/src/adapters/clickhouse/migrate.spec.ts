import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startStoreServer, type StoreServer } from '../chdb/index.js';
import { migrate, MIGRATIONS_DIRECTORY } from './migrate.js';
import { splitStatements } from './migration-files.js';
import { createStoreClient, type StoreClient } from './store-client.js';

const VIEWS = [
  'conflicts',
  'dead_letters',
  'episodes',
  'groups',
  'metrics',
  'policies',
  'reward_assignments',
  'runs',
  'steps',
  'updates',
];

describe('migrate', () => {
  let scratch: string;
  let directory: string;
  let server: StoreServer;
  let client: StoreClient;
  let numDatabases = 0;

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'retrace-migrate-'));
    const users = [{ name: 'retrace', password: 'secret', access: 'full' as const }];
    server = await startStoreServer({
      dataDirectory: join(scratch, 'store'),
      host: '127.0.0.1',
      port: 0,
      users,
    });
  });

  afterAll(async () => {
    await server.close();
    await rm(scratch, { recursive: true });
  });

  beforeEach(async () => {
    const database = `migrate_${++numDatabases}`;
    const root = createStoreClient({ url: server.url, username: 'retrace', password: 'secret' });
    await root.command(`CREATE DATABASE ${database}`);
    await root.close();
    client = createStoreClient({ url: server.url, username: 'retrace', password: 'secret', database });
    directory = join(scratch, database);
  });

  async function write(name: string, sql: string): Promise<void> {
    await cp(join(import.meta.dirname, 'empty'), directory, { recursive: true }).catch(() => undefined);
    await writeFile(join(directory, name), sql);
  }
  void write;
  void readFile;

  it('makes the fact table and every public view, and does nothing the second time', async () => {
    const first = await migrate(client);
    expect(first.applied).toEqual(['0001_events.sql', '0002_views.sql']);
    const tables = await client.queryRows<{ name: string }>(
      'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
    );
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['events', 'schema_migrations', ...VIEWS]),
    );
    expect(await migrate(client)).toEqual({ applied: [] });
    void MIGRATIONS_DIRECTORY;
    void splitStatements;
  });
});
