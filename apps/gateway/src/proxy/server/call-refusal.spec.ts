import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { startProxy } from '../start-proxy.js';

async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('a request that the proxy is told to refuse is neither passed on nor recorded, whether it calls, rewards, or asks for anything else', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-refused-'));
  const [passed, recorded]: string[][] = [[], []];
  const upstream = createServer((request, response) => {
    passed.push(request.url ?? '');
    response.end('{}');
  });
  const retrace = createServer((request, response) => {
    void text(request).then((body) => {
      recorded.push(`${request.method} ${request.url} ${body}`);
      response.end('{}');
    });
  });
  const proxy = await startProxy(
    {
      ...{
        upstream: await listen(upstream),
        upstreamKind: 'other',
        upstreamKey: null,
        upstreamTimeoutMs: 9_000,
      },
      ...{
        host: '127.0.0.1',
        port: 0,
        allowedHosts: [],
        retraceUrl: await listen(retrace),
        retraceKey: null,
      },
      ...{ run: 'refused', stateDirectory: directory, idleMs: 9_000, maxBodyBytes: 9_000, logprobMode: null },
      refusalOf: ({ authorization }) =>
        Promise.resolve(authorization === 'Bearer good' ? null : { status: 401, body: { error: 'no key' } }),
    },
    { warn: () => undefined },
  );
  const statusOf = async (method: string, path: string, authorization = '') => {
    const headers = { 'content-type': 'application/json', authorization };
    const body = method === 'POST' ? '{"messages":[]}' : null;
    return (await fetch(`${proxy.url}${path}`, { method, headers, body })).status;
  };
  try {
    const refused = [
      await statusOf('POST', '/v1/chat/completions'),
      await statusOf('POST', '/e/one/reward'),
      await statusOf('POST', '/e/one/end'),
      await statusOf('GET', '/v1/models'),
    ];
    expect(refused).toEqual([401, 401, 401, 401]);
    expect(passed).toEqual([]);
    expect(await statusOf('GET', '/health')).toBe(200);
    expect(await statusOf('GET', '/v1/models', 'Bearer good')).toBe(200);
    expect(passed).toEqual(['/v1/models']);
  } finally {
    await proxy.close();
    upstream.close();
    retrace.close();
    rmSync(directory, { recursive: true });
  }
  // The start of the run, and no episode.
  expect(recorded).toHaveLength(1);
  expect(recorded[0]).toContain('"name":"refused"');
  expect(recorded[0]).not.toContain('episode');
});
