import { afterEach, describe, expect, it, vi } from 'vitest';
import { EndpointError } from '../endpoint-error.js';
import { startFixtureServer, type FixtureServer, type Reply } from './fixture-server.fixture.js';
import { ServiceClient, type ServiceOptions } from './service-client.js';

describe('ServiceClient', () => {
  let server: FixtureServer;
  afterEach(() => server.close());

  async function clientOf(
    reply: (n: number) => Reply | Promise<Reply>,
    options: Partial<ServiceOptions> = {},
  ) {
    server = await startFixtureServer((_, n) => reply(n));
    return new ServiceClient({ url: server.url, concurrency: 4, firstRetryMs: 1, ...options });
  }
  const ask = { path: '/x', body: {}, timeoutMs: 5_000, maxRetries: 2, read: (text: string) => text };
  const faultOf = (asking: Promise<unknown>) =>
    asking.then(
      () => null,
      (error: unknown) => error,
    );

  it('does not read an answer beyond its bound into memory', async () => {
    const client = await clientOf(() => ({ body: 'x'.repeat(10_000) }), { maxAnswerBytes: 1_000 });
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
    await vi.waitFor(
      () => {
        expect(server.asked).toHaveLength(1);
      },
      { timeout: 30_000 },
    );
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

  it('waits for a rate limit as long as the server says, however few retries there are, where it is patient', async () => {
    const startedAt = performance.now();
    const client = await clientOf(
      (n) =>
        n < 5 ? { status: 429, headers: { 'retry-after-ms': '40' }, body: 'slow down' } : { body: 'good' },
      { isPatient: true },
    );
    expect(await client.request({ ...ask, maxRetries: 0 })).toBe('good');
    expect(client.counts).toEqual({ numRequests: 6, numRetries: 5 });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(195);
  });

  it('holds every request back after a refusal for the rate limit', async () => {
    const client = await clientOf((n) =>
      n === 0 ? { status: 429, headers: { 'retry-after-ms': '150' }, body: '' } : { body: 'good' },
    );
    const startedAt = performance.now();
    const first = client.request(ask);
    await vi.waitUntil(() => client.counts.numRetries === 1, { timeout: 30_000 });
    await client.request(ask);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(145);
    await first;
  });

  it('gives up at once where the server asks for a pause beyond the deadline', async () => {
    const client = await clientOf(() => ({ status: 429, headers: { 'retry-after': '3600' }, body: '' }));
    const startedAt = performance.now();
    const fault = await faultOf(client.request({ ...ask, deadlineMs: 60_000 }));
    expect(fault).toMatchObject({
      code: 'DEADLINE',
      message: "the server's rate limit leaves no room within the deadline of 60000 ms",
    });
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });

  it('ends at its deadline, however many attempts are left', async () => {
    const client = await clientOf(() => new Promise(() => undefined));
    const fault = await faultOf(client.request({ ...ask, timeoutMs: 60, maxRetries: 100, deadlineMs: 200 }));
    expect(fault).toMatchObject({ code: 'TIMEOUT' });
    expect(server.asked.length).toBeLessThanOrEqual(5);
  });

  it.each([
    // The first goes at once; the others follow every 50 ms.
    [{ requestsPerMinute: 1_200 }, 0],
    [{ tokensPerMinute: 120_000 }, 100],
  ])('makes no more requests a minute than %o', async (pace, numTokens) => {
    server = await startFixtureServer(() => ({ body: 'good' }));
    const client = new ServiceClient({ url: server.url, concurrency: 8, pace });
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 5 }, () => client.request({ ...ask, numTokens })));
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(198);
  });

  it('asks a server that was down again while its requests have time, where it is patient', async () => {
    const options = { isPatient: true, maxFailuresInARow: 2, downPauseMs: 1_000 };
    const client = await clientOf((n) => (n < 4 ? { status: 503, body: '' } : { body: 'good' }), options);
    const down = { ...ask, maxRetries: 0 };
    expect(await faultOf(client.request(down))).toMatchObject({ status: 503 });
    expect(await faultOf(client.request(down))).toMatchObject({ status: 503 });
    expect(await faultOf(client.request({ ...down, deadlineMs: 10 }))).toMatchObject({ code: 'NOT_ASKED' });
    await Promise.allSettled([client.request(down), client.request(down)]);
    expect(await client.request(down)).toBe('good');
  });
});
