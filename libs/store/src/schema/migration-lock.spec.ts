import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startStoreServer, type StoreServer } from '@retrace/store-server';
import { createStoreClient, type StoreClient } from '../client/store-client.js';
import { migrate } from './migrate.js';
import { withMigrationLock } from './migration-lock.js';

describe('withMigrationLock', () => {
  let scratch: string;
  let server: StoreServer;
  let root: StoreClient;
  let database: string;
  let numDatabases = 0;
  const clients: StoreClient[] = [];

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'retrace-migration-lock-'));
    server = await startStoreServer({
      dataDirectory: join(scratch, 'store'),
      host: '127.0.0.1',
      port: 0,
      users: [{ name: 'retrace', password: 'secret', access: 'full' }],
    });
    root = connect('default');
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
    await rm(scratch, { recursive: true });
  });

  beforeEach(async () => {
    database = `lock_${++numDatabases}`;
    await root.command(`CREATE DATABASE ${database}`);
    await root.command(`CREATE TABLE ${database}.schema_migrations (x UInt32) ENGINE = MergeTree ORDER BY x`);
  });

  function connect(name = database): StoreClient {
    const client = createStoreClient({
      url: server.url,
      username: 'retrace',
      password: 'secret',
      database: name,
    });
    clients.push(client);
    return client;
  }

  async function locks(): Promise<string[]> {
    const rows = await root.queryRows<{ name: string }>(
      "SELECT name FROM system.tables WHERE database = {database:String} AND name != 'schema_migrations' ORDER BY name",
      { params: { database } },
    );
    return rows.map(({ name }) => name);
  }

  it('lets one process work at a time, whatever the others end with, and leaves no lock', async () => {
    let numAtWork = 0;
    let numDone = 0;
    const works = Array.from({ length: 6 }, (_, i) =>
      withMigrationLock(connect(), async (assertHeld) => {
        expect(++numAtWork).toBe(1);
        await pause(20);
        await assertHeld();
        expect(numAtWork--).toBe(1);
        numDone++;
        if (i % 2 === 0) throw new Error(`work ${i} failed`);
      }),
    );
    const ends = await Promise.allSettled(works);
    expect(ends.map(({ status }) => status)).toEqual([
      ...['rejected', 'fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
    ]);
    expect(numDone).toBe(6);
    expect(await locks()).toEqual([]);
  });

  it('is taken over by one of those that wait when its process is gone, and not before it is still for so long', async () => {
    await root.command(`CREATE TABLE ${database}.schema_migrations_lock_1 (nothing UInt8) ENGINE = Null`);
    const began = performance.now();
    let numAtWork = 0;
    const works = [1, 2, 3].map(() =>
      withMigrationLock(
        connect(),
        async () => {
          expect(++numAtWork).toBe(1);
          expect(performance.now() - began).toBeGreaterThan(2000);
          await pause(20);
          numAtWork--;
        },
        { abandonedAfterMs: 2000 },
      ),
    );
    await pause(300);
    // The process behind it works still.
    await root.command(`INSERT INTO ${database}.schema_migrations VALUES (1)`);
    const afterInsert = performance.now();
    await Promise.all(works);
    expect(performance.now() - afterInsert).toBeGreaterThan(2000);
    expect(await locks()).toEqual([]);
  });

  it('is lost by a process that stood still: it may not go on once another has taken over', async () => {
    const abandonedAfterMs = 300;
    const events = new EventEmitter();
    const [locked, takenOver] = [once(events, 'locked'), once(events, 'taken over')];
    const late = withMigrationLock(connect(), async (assertHeld) => {
      events.emit('locked');
      await takenOver;
      await assertHeld();
    });
    await locked;
    const message = /^Another process took the migration over, because this one did nothing for 10 s$/;
    await withMigrationLock(
      connect(),
      async () => {
        events.emit('taken over');
        await expect(late).rejects.toMatchObject({
          code: 'MIGRATION_FAILED',
          retriable: true,
          message: expect.stringMatching(message) as string,
        });
      },
      { abandonedAfterMs },
    );
    expect(await locks()).toEqual([]);
  });

  it('is not taken for its own by a process that stood still until others had released it and locked again', async () => {
    const abandonedAfterMs = 300;
    const events = new EventEmitter();
    const [locked, lockedAgain] = [once(events, 'locked'), once(events, 'locked again')];
    const late = withMigrationLock(connect(), async (assertHeld) => {
      events.emit('locked');
      await lockedAgain;
      await assertHeld();
    });
    await locked;
    await withMigrationLock(connect(), () => Promise.resolve(), { abandonedAfterMs });
    await withMigrationLock(connect(), async (assertHeld) => {
      expect(await locks()).toEqual(['schema_migrations_lock_1']);
      events.emit('locked again');
      await expect(late).rejects.toMatchObject({ code: 'MIGRATION_FAILED' });
      await assertHeld();
    });
    expect(await locks()).toEqual([]);
  });

  it('lets a process begin to migrate at any point of another’s migration', { tags: 'release' }, async () => {
    for (let round = 0; round < 4; round++) {
      database = `staggered_${round}`;
      await root.command(`CREATE DATABASE ${database}`);
      const starts = [0, 40, 80, 120, 160].map(async (delayMs) => {
        const client = connect();
        await pause(delayMs);
        return migrate(client);
      });
      const applied = (await Promise.all(starts)).filter((result) => result.applied.length > 0);
      expect(applied).toHaveLength(1);
    }
  });
});
