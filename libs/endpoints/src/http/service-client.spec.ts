import { afterEach, describe, expect, it, vi } from 'vitest';
import { EndpointError } from '../endpoint-error.js';
import { startFixtureServer, type FixtureServer, type Reply } from './fixture-server.fixture.js';
import { ServiceClient } from './service-client.js';

describe('ServiceClient', () => {
  let server: FixtureServer;
  afterEach(() => server.close());

  async function clientOf(reply: (n: number) => Reply | Promise<Reply>, maxAnswerBytes?: number) {
    server = await startFixtureServer((_, n) => reply(n));
    return new ServiceClient({ url: server.url, concurrency: 4, firstRetryMs: 1, maxAnswerBytes });
  }
  const ask = { path: '/x', body: {}, timeoutMs: 5_000, maxRetries: 2, read: (text: string) => text };
  const faultOf = (asking: Promise<unknown>) =>
    asking.then(
      () => null,
      (error: unknown) => error,
    );

  it('does not read an answer beyond its bound into memory', async () => {
    const client = await clientOf(() => ({ body: 'x'.repeat(10_000) }), 1_000);
    const fault = await faultOf(client.request({ ...ask, maxRetries: 0 }));
    expect(fault).toMatchObject({
      code: 'MALFORMED_ANSWER',
      message: 'the answer has more than 1000 bytes',
    });
  });

  it('reads an answer again that its reader calls malformed', async () => {
    const client = await clientOf((n) => ({ body: n < 2 ? 'garbage' : 'good' }));
    const read = (text: string) => {
      if (text === 'good') return text;
      throw new EndpointError('MALFORMED_ANSWER', text);
    };
    expect(await client.request({ ...ask, read })).toBe('good');
    expect(client.counts).toEqual({ numRequests: 3, numRetries: 2 });
  });

  it('ends a request, and the pause before a repeated one, when its signal aborts', async () => {
    const client = await clientOf(() => ({ status: 503, headers: { 'retry-after': '30' }, body: '' }));
    const stop = new AbortController();
    const asking = faultOf(client.request({ ...ask, signal: stop.signal }));
    await vi.waitFor(() => {
      expect(server.asked).toHaveLength(1);
    });
    stop.abort(new Error('stopped'));
    expect(await asking).toMatchObject({ message: 'stopped' });
    expect(server.asked).toHaveLength(1);
  });

  it('says which timeout was missed', async () => {
    const never = new Promise<Reply>(() => undefined);
    const client = await clientOf(() => never);
    const fault = await faultOf(client.request({ ...ask, timeoutMs: 30, maxRetries: 0 }));
    expect(fault).toMatchObject({ code: 'TIMEOUT', message: 'no answer within the timeout of 30 ms' });
  });

  it('appends paths to the path of its address, and keeps a connection for the next request', async () => {
    server = await startFixtureServer(({ path }) => ({ body: path }));
    const client = new ServiceClient({ url: `${server.url}/models/tiny/`, concurrency: 1 });
    const answers = [await client.request(ask), await client.request(ask)];
    expect(answers).toEqual(['/models/tiny/x', '/models/tiny/x']);
    expect(server.numConnections).toBe(1);
  });

  it.each(['', '127.0.0.1:8000', 'ftp://127.0.0.1'])('refuses "%s" as an address', (url) => {
    expect(() => new ServiceClient({ url, concurrency: 1 })).toThrow(
      expect.objectContaining({ code: 'INVALID_SETTING' }),
    );
  });
});
