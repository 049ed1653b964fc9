import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client';
import { readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startStoreServer } from './store-server.js';
import { createStoreBench, FULL_USER, StoreProcess } from './testing/store-process.js';

const ROWS_PER_BATCH = 200;

describe('the store process', () => {
  let bench: Awaited<ReturnType<typeof createStoreBench>>;
  let store: StoreProcess | undefined;
  let numDirectories = 0;

  beforeAll(async () => {
    bench = await createStoreBench();
  });

  afterEach(async () => {
    await store?.kill();
  });

  afterAll(async () => {
    await bench?.remove();
  });

  const newDirectory = () => join(bench.directory, `store-${numDirectories++}`);
  const start = async (directory: string, environment?: Record<string, string>) =>
    (store = await StoreProcess.start(bench.module, directory, environment));
  const connect = (url: string) =>
    createClient({ url, ...FULL_USER, log: { level: ClickHouseLogLevel.OFF } });

  const count = async (client: ClickHouseClient, query: string) =>
    Number((await (await client.query({ query, format: 'JSONEachRow' })).json<{ n: string }>())[0].n);

  it(
    'killed at any time, keeps every acknowledged insert, and each insert completely or not at all',
    { tags: 'release' },
    async () => {
      const directory = newDirectory();
      const acknowledged = new Set<number>();
      let batch = 0;
      // Killed in the first insert, and when parts have begun to merge.
      for (const numAcknowledged of [0, 1, 2, 5, 9, 15]) {
        const target = acknowledged.size + numAcknowledged;
        const running = await start(directory);
        const client = connect(running.url);
        await client.command({
          query:
            'CREATE TABLE IF NOT EXISTS batches (batch UInt32, row UInt32) ENGINE = MergeTree ORDER BY batch',
        });
        let isOver = false;
        const writers = Array.from({ length: 3 }, async () => {
          while (!isOver) {
            const mine = batch++;
            const values = Array.from({ length: ROWS_PER_BATCH }, (_, row) => ({ batch: mine, row }));
            await client.insert({ table: 'batches', values, format: 'JSONEachRow' }).then(
              () => acknowledged.add(mine),
              () => (isOver = true),
            );
          }
        });
        while (acknowledged.size < target) await sleep(1);
        await sleep(numAcknowledged);
        await running.kill();
        await Promise.all(writers);
        await client.close();
      }
      const client = connect((await start(directory)).url);
      const result = await client.query({
        query: 'SELECT batch, count() AS n, uniqExact(row) AS u FROM batches GROUP BY batch',
        format: 'JSONEachRow',
      });
      const batches = await result.json<{ batch: number; n: string; u: string }>();
      expect(
        batches.filter(({ n, u }) => Number(n) !== ROWS_PER_BATCH || Number(u) !== ROWS_PER_BATCH),
      ).toEqual([]);
      const stored = new Set(batches.map((row) => row.batch));
      expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
      // What the killed processes were inserting is cleaned up.
      expect((await readdir(join(directory, 'exchange'))).filter((name) => name.startsWith('body-'))).toEqual(
        [],
      );
      await client.close();
    },
  );

  it('asked to stop, answers running statements, accepts no new ones, and ends', async () => {
    const running = await start(newDirectory());
    const client = connect(running.url);
    const slow = count(
      client,
      'SELECT count() AS n FROM numbers(200000000) WHERE NOT ignore(cityHash64(number), cityHash64(number + 1))',
    );
    const numRunning =
      "SELECT count() AS n FROM system.processes WHERE query LIKE '%ignore(%' AND query NOT LIKE '%processes%'";
    let isAnswered = false;
    void slow.finally(() => (isAnswered = true));
    while ((await count(client, numRunning)) === 0) {
      expect(isAnswered, 'ended before it was seen').toBe(false);
      await sleep(5);
    }
    const stopped = running.stop();
    expect(await slow).toBe(200_000_000);
    expect(await stopped).toBe(0);
    await expect(count(client, 'SELECT 1 AS n')).rejects.toThrow();
    await client.close();
  });

  it('cancels statements that run longer than the time to drain', async () => {
    const directory = newDirectory();
    const users = [{ name: FULL_USER.username, password: FULL_USER.password, access: 'full' as const }];
    const server = await startStoreServer({ dataDirectory: directory, port: 0, users, drainMs: 200 });
    const client = connect(server.url);
    const endless = count(
      client,
      'SELECT count() AS n FROM numbers(100000000000) WHERE NOT ignore(cityHash64(number))',
    );
    const refused = expect(endless).rejects.toThrow();
    await sleep(100);
    const startMs = performance.now();
    await Promise.all([server.close(), server.close()]);
    expect(performance.now() - startMs).toBeLessThan(5000);
    await refused;
    await client.close();
    // The directory is free again.
    await start(directory);
  });

  it('refuses a body larger than its limit, also one that is smaller while compressed', async () => {
    const users = [{ name: FULL_USER.username, password: FULL_USER.password, access: 'full' as const }];
    const server = await startStoreServer({
      dataDirectory: newDirectory(),
      port: 0,
      users,
      maxBodyBytes: 10_000,
    });
    for (const request of [false, true]) {
      const client = createClient({
        url: server.url,
        ...FULL_USER,
        compression: { request },
        log: { level: ClickHouseLogLevel.OFF },
      });
      await client.command({
        query: 'CREATE TABLE IF NOT EXISTS t (s String) ENGINE = MergeTree ORDER BY s',
      });
      const insert = (length: number) =>
        client.insert({ table: 't', values: [{ s: 'x'.repeat(length) }], format: 'JSONEachRow' });
      await insert(9_000);
      await expect(insert(11_000)).rejects.toThrow();
      expect(await count(client, 'SELECT max(length(s)) AS n FROM t')).toBe(9_000);
      await client.close();
    }
    await server.close();
  });

  it('creates files that other users cannot read', async () => {
    const directory = newDirectory();
    await start(directory);
    expect((await stat(directory)).mode & 0o077).toBe(0);
  });

  describe('reports in one sentence why it cannot start', () => {
    it('on a data directory that another process uses', async () => {
      const directory = newDirectory();
      const first = await start(directory);
      const client = connect(first.url);
      const second = StoreProcess.start(bench.module, directory);
      await expect(second).rejects.toMatchObject({
        exitCode: 1,
        stderr: `The store's data directory ${directory} is in use by process ${first.pid}; stop that process, or choose another directory.\n`,
      });
      // The first one is none the worse for it.
      await client.command({ query: 'CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a' });
      await client.insert({ table: 't', values: [{ a: 1 }], format: 'JSONEachRow' });
      expect(await count(client, 'SELECT count() AS n FROM t')).toBe(1);
      await client.close();
    });

    it('on a port that is in use', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as { port: number };
      await expect(start(newDirectory(), { STORE_PORT: String(port) })).rejects.toMatchObject({
        exitCode: 1,
        stderr: `Port ${port} on 127.0.0.1 is in use; stop the program that uses it, or choose another port.\n`,
      });
      other.close();
    });

    it('on an address of another machine', async () => {
      await expect(start(newDirectory(), { STORE_HOST: '192.0.2.1' })).rejects.toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/^The store cannot listen on 192\.0\.2\.1:0: .*\n$/),
      });
    });

    it('on a directory that is not writable, or that the engine would take for a pattern', async () => {
      await expect(start(join(bench.module.path, 'below-a-file'))).rejects.toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(
          /^The store's data directory .*below-a-file cannot be opened: ENOTDIR.*\n$/,
        ),
      });
      await expect(start(`${newDirectory()}{1,2}`)).rejects.toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('choose another directory'),
      });
    });
  });
});
