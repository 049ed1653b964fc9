import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import { createStoreClient, type StoreClient } from './store-client.js';

type Method = readonly [name: string, call: (client: StoreClient) => Promise<unknown>];

/** Every way in which the rest of Retrace talks to the store. */
const METHODS: readonly Method[] = [
  ['queryRows', (client) => client.queryRows('SELECT 1')],
  ['queryTable', (client) => client.queryTable('SELECT 1')],
  ['queryArrow', (client) => client.queryArrow('SELECT 1')],
  ['command', (client) => client.command('SELECT 1')],
  [
    'insertArrow',
    (client) => client.insertArrow({ table: 't', columns: ['x'], body: Buffer.alloc(300_000) }),
  ],
];

const AWAY = { code: 'STORE_UNAVAILABLE', retriable: true };

describe('StoreClient, over a faulty connection', () => {
  it.each(METHODS)('%s: rejects when the connection is reset before the answer', async (_, call) => {
    await withServer(
      (request) => request.socket.resetAndDestroy(),
      async (client) => {
        await expect(call(client)).rejects.toMatchObject(AWAY);
      },
    );
  });

  it.each(METHODS.filter(([name]) => name !== 'command'))(
    '%s: a connection that is reset in the middle of the answer',
    async (_, call) => {
      await withServer(
        (request, response) => {
          response.writeHead(200);
          response.write('{"x":1}\n', () => setTimeout(() => request.socket.resetAndDestroy(), 20));
        },
        async (client) => {
          await expect(call(client)).rejects.toMatchObject(AWAY);
        },
      );
    },
  );

  it.each(METHODS)('%s: rejects when the server never answers', async (_, call) => {
    await withServer(
      () => undefined,
      async (client) => {
        const startedMs = performance.now();
        await expect(call(client)).rejects.toMatchObject(AWAY);
        expect(performance.now() - startedMs).toBeLessThan(5_000);
      },
      { requestTimeoutMs: 200 },
    );
  });

  it.each(METHODS)('%s: rejects when the password is refused', async (_, call) => {
    await withServer(
      (_, response) => {
        response.writeHead(403, { 'X-ClickHouse-Exception-Code': '516' });
        response.end(
          'Code: 516. DB::Exception: x: Authentication failed. (AUTHENTICATION_FAILED) (version 26.7)',
        );
      },
      async (client) => {
        await expect(call(client)).rejects.toMatchObject({
          code: 'STORE_AUTHENTICATION_FAILED',
          retriable: false,
        });
      },
    );
  });

  it.each([
    [242, 'TABLE_IS_READ_ONLY', true],
    [286, 'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE', true],
    [289, 'REPLICA_IS_NOT_IN_QUORUM', true],
    [999, 'KEEPER_EXCEPTION', true],
    [62, 'SYNTAX_ERROR', false],
  ])('tells whether exception %i (%s) may pass: %s', async (code, name, retriable) => {
    await withServer(
      (_, response) => {
        response.writeHead(500, { 'X-ClickHouse-Exception-Code': String(code) });
        response.end(`Code: ${code}. DB::Exception: told so. (${name}) (version 26.7)`);
      },
      async (client) => {
        await expect(client.command('SELECT 1')).rejects.toMatchObject({
          code: 'STORE_EXCEPTION',
          retriable,
        });
      },
    );
  });
});

describe('StoreClient, over the connection to the store', () => {
  let store: StoreFixture;

  beforeAll(async () => {
    store = await openStoreFixture();
  });

  afterAll(() => store.close());

  it('rejects rows that end in an exception', async () => {
    const sql = 'SELECT number, throwIf(number = 3000000) AS failed FROM numbers(4000000)';
    const settings = { max_threads: 1, max_block_size: '65536' };
    for (const read of [
      () => store.client.queryRows(sql, { settings }),
      () => store.client.queryTable(sql, { settings }),
      () => store.client.queryArrow(sql, { settings }),
    ]) {
      await expect(read()).rejects.toMatchObject({ code: 'STORE_EXCEPTION', retriable: false });
    }
  });

  it('reads the same bytes from a compressed answer as from a plain one', async () => {
    const sql = 'SELECT number AS n, toString(number) AS text FROM numbers(300000)';
    const plain = await store.client.queryArrow(sql);
    const response = await fetch(
      `${store.url}/?enable_http_compression=1&output_format_arrow_compression_method=none`,
      {
        method: 'POST',
        headers: { ...credentials, 'accept-encoding': 'gzip' },
        body: `${sql} FORMAT ArrowStream`,
      },
    );
    expect(response.headers.get('content-encoding')).toBe('gzip');
    const unpacked = Buffer.from(await response.arrayBuffer());
    expect(unpacked.equals(Buffer.from(plain))).toBe(true);
    expect(ArrowColumns.read(plain).numbers('n')[299_999]).toBe(299_999);
  });

  it('inserts a compressed body, and inserts no row of one that breaks off', async () => {
    await store.client.command('CREATE TABLE packed (x UInt32) ENGINE = MergeTree ORDER BY x');
    const body = gzipSync(Array.from({ length: 50_000 }, (_, i) => `${i}\n`).join(''));
    expect(gunzipSync(body)).toHaveLength(288_890);
    const insert = (bytes: Buffer) =>
      fetch(`${store.url}/?query=${encodeURIComponent('INSERT INTO packed FORMAT TSV')}`, {
        method: 'POST',
        headers: { ...credentials, 'content-encoding': 'gzip' },
        body: new Uint8Array(bytes),
      });
    expect((await insert(body.subarray(0, body.length / 2))).ok).toBe(false);
    expect(await store.client.queryRows('SELECT count() AS n FROM packed')).toEqual([{ n: 0 }]);
    expect((await insert(body)).ok).toBe(true);
    expect(await store.client.queryRows('SELECT count() AS n FROM packed')).toEqual([{ n: 50_000 }]);
  });
});

const credentials = { 'x-clickhouse-user': 'retrace', 'x-clickhouse-key': 'fixture' };

async function withServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  use: (client: StoreClient) => Promise<void>,
  { requestTimeoutMs = 5_000 } = {},
): Promise<void> {
  const server = createServer((request, response) => {
    // To its end first, so that what fails is the answer.
    request.resume().on('end', () => {
      answer(request, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createStoreClient({
    url: `http://127.0.0.1:${port}`,
    username: 'retrace',
    password: 'x',
    requestTimeoutMs,
  });
  try {
    await use(client);
  } finally {
    await client.close();
    server.closeAllConnections();
    server.close();
  }
}
