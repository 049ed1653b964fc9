import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import { EventRowsEncoder } from '../rows/event-rows.js';
import { createStoreClient, type StoreClient } from './store-client.js';

describe('StoreClient', () => {
  let store: StoreFixture;

  beforeAll(async () => {
    store = await openStoreFixture();
  });

  afterAll(() => store.close());

  it('returns rows as objects: wide integers as numbers, NaN and infinities as null', async () => {
    const rows = await store.client.queryRows(
      'SELECT toUInt64({n:UInt64}) AS wide, nan AS missing, {text:String} AS text, [1, 2]::Array(Int64) AS list',
      { params: { n: 9_007_199_254_740_991, text: "it's\n\\ {x:Y}" } },
    );
    expect(rows).toEqual([
      { wide: Number.MAX_SAFE_INTEGER, missing: null, text: "it's\n\\ {x:Y}", list: [1, 2] },
    ]);
  });

  it('returns a result as a readable Arrow stream', async () => {
    const bytes = await store.client.queryArrow('SELECT number AS n FROM numbers({count:UInt32})', {
      params: { count: 200_000 },
    });
    const columns = ArrowColumns.read(bytes);
    expect(columns.numRows).toBe(200_000);
    expect(columns.numbers('n')[199_999]).toBe(199_999);
  });

  it('inserts rows from an Arrow stream', async () => {
    const encoder = new EventRowsEncoder({ logId: 'log', stream: 'control', partition: 0 });
    encoder.append({ offset: 5, watermark: true });
    const { columns, body } = encoder.finish();
    await store.client.insertArrow({ table: 'events', columns, body });
    expect(await store.client.queryRows('SELECT log_id, log_offset, kind FROM events')).toEqual([
      { log_id: 'log', log_offset: 5, kind: '_watermark' },
    ]);
  });

  it("names the statement that the engine refused, with the exception's code", async () => {
    await expect(store.client.queryRows('SELECT no_such_column FROM events')).rejects.toMatchObject({
      code: 'STORE_EXCEPTION',
      retriable: false,
      message: expect.stringMatching(/no_such_column.*\(exception 47\)/s) as string,
    });
    const limited = store.client.queryRows('SELECT uniqExact(number) FROM numbers(3000000)', {
      settings: { max_memory_usage: '1000000' },
    });
    await expect(limited).rejects.toMatchObject({ code: 'STORE_EXCEPTION', retriable: true });
  });

  it('rejects an answer that ends in an exception', async () => {
    const reading = store.client.queryArrow(
      'SELECT number, throwIf(number = 3000000) AS failed FROM numbers(4000000)',
      { settings: { max_threads: 1, max_block_size: '65536' } },
    );
    await expect(reading).rejects.toMatchObject({ code: 'STORE_EXCEPTION' });
  });

  it('distinguishes a wrong password from a store that is unavailable', async () => {
    const { url } = store;
    const stranger = createStoreClient({ url, username: 'retrace', password: 'wrong' });
    await expect(stranger.queryRows('SELECT 1')).rejects.toMatchObject({
      code: 'STORE_AUTHENTICATION_FAILED',
      retriable: false,
    });
    await stranger.close();
    await withServer(
      (server) => server.close(),
      async (client) => {
        const away = { code: 'STORE_UNAVAILABLE', retriable: true };
        await expect(client.queryRows('SELECT 1')).rejects.toMatchObject(away);
        await expect(client.ping()).rejects.toMatchObject(away);
      },
    );
  });

  it('rejects an answer that breaks off', async () => {
    await withServer(
      (server) =>
        server.on('request', (_, response) => {
          response.writeHead(200, { 'content-length': 1_000 });
          response.write('part of a stream', () => response.destroy());
        }),
      async (client) => {
        await expect(client.queryArrow('SELECT 1')).rejects.toMatchObject({
          code: 'STORE_UNAVAILABLE',
          retriable: true,
        });
      },
    );
  });

  it('stops a query when its signal aborts', async () => {
    const slow = store.client.queryRows('SELECT sleepEachRow(1) FROM numbers(3)', {
      signal: AbortSignal.timeout(50),
    });
    await expect(slow).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  async function withServer(
    prepare: (server: Server) => unknown,
    use: (client: StoreClient) => Promise<void>,
  ): Promise<void> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    prepare(server);
    const client = createStoreClient({ url: `http://127.0.0.1:${port}`, username: 'retrace', password: 'x' });
    try {
      await use(client);
    } finally {
      await client.close();
      server.close();
    }
  }
});
