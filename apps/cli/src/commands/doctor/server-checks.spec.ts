import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkServer } from './server-checks.js';

const READY = { state: 'ready', detail: '' };

describe('checkServer', () => {
  let server: Server;
  let url: string;
  let health: object;
  beforeAll(async () => {
    server = createServer((_, response) => response.end(JSON.stringify(health)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
  });

  it.each([
    [{ state: 'running', detail: '', lagRecords: 0 }, 'ok', 'the store is up to date'],
    [{ state: 'running', detail: '', lagRecords: 7 }, 'ok', 'the store is 7 records behind the log'],
    [{ state: 'running', detail: '', lagRecords: null }, 'ok', 'the sink has not reported its position yet'],
    [{ state: 'failed', detail: 'disk full', lagRecords: 3 }, 'fail', 'the sink has stopped: disk full'],
    [
      { state: 'backingOff', detail: 'partition 2', lagRecords: 3 },
      'warn',
      'part of the sink is failing and retries: partition 2',
    ],
  ])('turns the sink report %j into verdict %s', async (sink, verdict, detail) => {
    health = { store: READY, sink };
    expect(await checkServer(url)).toEqual({ check: 'server', verdict, detail: `${url}: ${detail}` });
  });

  it('warns while the store is not ready', async () => {
    health = { store: { state: 'starting', detail: 'waiting' }, sink: { lagRecords: null } };
    expect(await checkServer(url)).toMatchObject({
      verdict: 'warn',
      detail: `${url}: the store is starting: waiting`,
    });
  });

  it('warns when the server does not answer', async () => {
    expect(await checkServer('http://127.0.0.1:1')).toMatchObject({
      verdict: 'warn',
      detail: expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:1 does not answer \(.+\); it may be starting$/,
      ) as string,
    });
  });
});
