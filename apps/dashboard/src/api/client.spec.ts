import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import createClient from 'openapi-fetch';
import { afterEach, describe, expect, it } from 'vitest';
import { awaitData } from './client';
import type { paths } from '../api-types/schema';

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closings.splice(0).map((close) => close()));
});

/** A client of a real server with one answer; `close` makes the server unreachable. */
async function serve(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => new Promise((resolve) => server.close(resolve));
  closings.push(close);
  const { port } = server.address() as AddressInfo;
  return { client: createClient<paths>({ baseUrl: `http://127.0.0.1:${port}` }), close };
}

describe('awaitData', () => {
  it('returns the data of a successful response', async () => {
    const { client } = await serve((_, response) => response.end('{"tables":[]}'));
    expect(await awaitData(client.GET('/api/sql/schema'))).toEqual({ tables: [] });
  });

  it("throws the API's problem with its status, code, title and detail", async () => {
    const { client } = await serve((_, response) => {
      response.writeHead(404, { 'content-type': 'application/problem+json' });
      response.end('{"status":404,"code":"NOT_FOUND","title":"Not found","detail":"Run \\"x\\" not found"}');
    });
    const call = client.GET('/api/runs/{runId}', { params: { path: { runId: 'x' } } });
    await expect(awaitData(call)).rejects.toMatchObject({
      status: 404,
      code: 'NOT_FOUND',
      title: 'Not found',
      message: 'Run "x" not found',
      retriable: false,
    });
  });

  it('throws a retriable problem for an error page of a proxy', async () => {
    const { client } = await serve((_, response) => {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
    });
    await expect(awaitData(client.GET('/api/health'))).rejects.toMatchObject({
      status: 502,
      message: 'The server answered with status 502.',
      retriable: true,
    });
  });

  it('throws a problem for a successful response that is not JSON', async () => {
    const { client } = await serve((_, response) => response.end('<h1>Welcome</h1>'));
    await expect(awaitData(client.GET('/api/health'))).rejects.toMatchObject({
      code: 'NOT_JSON',
      retriable: false,
    });
  });

  it('throws a retriable problem when the server is unreachable', async () => {
    const { client, close } = await serve((_, response) => response.end('{}'));
    await close();
    await expect(awaitData(client.GET('/api/health'))).rejects.toMatchObject({
      status: 0,
      code: 'UNREACHABLE',
      retriable: true,
    });
  });

  it('rejects with the reason of the signal when the call is aborted', async () => {
    const { client } = await serve(() => undefined);
    const reason = new Error('page left');
    const call = awaitData(client.GET('/api/health', { signal: AbortSignal.abort(reason) }));
    await expect(call).rejects.toBe(reason);
  });
});
