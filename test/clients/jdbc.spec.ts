import { execFile } from 'node:child_process';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchJar } from './maven-jar.js';

/** The driver that DBeaver uses for ClickHouse, and the one library that its jar lacks. */
const jars = await Promise.all([
  fetchJar({
    group: 'com.clickhouse',
    artifact: 'clickhouse-jdbc',
    version: '0.9.2',
    classifier: 'all',
    sha256: '12c17d310f2d44e03da1a2e4cc9509b17eaa12d8c1484cb3c4499c82dcf9675d',
  }),
  fetchJar({
    group: 'org.slf4j',
    artifact: 'slf4j-api',
    version: '2.0.17',
    sha256: '7b751d952061954d5abfed7181c1f645d336091b679891591d63329c622eb832',
  }),
]);
const missing = jars.find((jar) => jar.kind === 'unavailable');
const classPath = jars.flatMap((jar) => (jar.kind === 'available' ? [jar.path] : [])).join(':');

const TITLE = 'clickhouse-jdbc 0.9.2 on the embedded store, with its defaults';
const title = missing === undefined ? TITLE : `${TITLE} (skipped, because ${missing.reason})`;

describe.skipIf(missing !== undefined)(title, () => {
  let store: StoreFixture;
  let recorder: Awaited<ReturnType<typeof recordRequests>>;

  beforeAll(async () => {
    store = await openStoreFixture();
    recorder = await recordRequests(store.url);
  });

  afterAll(async () => {
    recorder.close();
    await store.close();
  });

  it('lists tables, inserts and reads, in blocks of ClickHouse’s own compression', async () => {
    const program = join(import.meta.dirname, 'JdbcClient.java');
    const { stdout } = await promisify(execFile)('java', [
      ...['-cp', classPath, program],
      ...[`jdbc:clickhouse://127.0.0.1:${recorder.port}/default`, 'retrace', 'fixture'],
    ]);
    expect(stdout.trim().split('\n')).toEqual(['table episodes', 'written 1000 499500', 'read 20000']);
    // No property asks for compression: a store that could not answer so would be of no use to DBeaver.
    expect(
      recorder.urls.some((url) => new URL(url, 'http://store').searchParams.get('compress') === '1'),
    ).toBe(true);
  });
});

/** A proxy in front of a store that keeps the addresses that were asked for. */
async function recordRequests(target: string) {
  const urls: string[] = [];
  const server = createServer((incoming, outgoing) => {
    urls.push(incoming.url ?? '');
    const forwarded = request(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    urls,
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
