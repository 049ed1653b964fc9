import { createServer } from 'node:http';
import { createServer as createNetServer, type AddressInfo, type Server, type Socket } from 'node:net';
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
      { timeout: 120_000 },
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
    await vi.waitUntil(() => client.counts.numRetries === 1, { timeout: 120_000 });
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

  it.each([20, 30, 40, 50, 60, 80, 100])(
    'times out where its deadline passes between two looks at the clock, %d ms apart, and blames no rate limit',
    async (stepMs) => {
      const client = await clientOf(() => new Promise(() => undefined));
      let nowMs = 0;
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += stepMs));
      const asked = client.request({ ...ask, timeoutMs: 5, maxRetries: 100, deadlineMs: 200 });
      expect(await faultOf(asked).finally(() => clock.mockRestore())).toMatchObject({ code: 'TIMEOUT' });
    },
  );

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
    const client = await clientOf((n) => (n < 4 ? { status: 500, body: '' } : { body: 'good' }), options);
    const down = { ...ask, maxRetries: 0 };
    expect(await faultOf(client.request(down))).toMatchObject({ status: 500 });
    expect(await faultOf(client.request(down))).toMatchObject({ status: 500 });
    expect(await faultOf(client.request({ ...down, deadlineMs: 10 }))).toMatchObject({ code: 'NOT_ASKED' });
    await Promise.allSettled([client.request(down), client.request(down)]);
    expect(await client.request(down)).toBe('good');
  });

  const page = { headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<h1>It works!</h1>' };

  it.each<[string, Reply]>([
    ['a gateway says that it is down', { status: 503, body: '' }],
    ['a web page answers', page],
    ['a web page answers with an error', { ...page, status: 404 }],
  ])('waits for a server where %s, whatever is left of its attempts, and says so once', async (_, reply) => {
    const told: string[] = [];
    const onDown = ({ message }: EndpointError) => told.push(message);
    const options = { isPatient: true, onDown };
    const client = await clientOf((n) => (n < 6 || n === 7 ? reply : { body: 'good' }), options);
    expect(await client.request({ ...ask, maxRetries: 0 })).toBe('good');
    expect(told).toHaveLength(1);
    expect(await client.request({ ...ask, maxRetries: 0 })).toBe('good');
    expect(told).toHaveLength(2);
  });

  it('waits for a server that ended under a request, and that another program took the port of', async () => {
    let port = 0;
    const servers: Server[] = [];
    const listen = async (next: Server) => {
      servers.push(next);
      await new Promise<void>((resolve) => next.listen(port, '127.0.0.1', resolve));
      ({ port } = next.address() as AddressInfo);
    };
    let under: Socket | null = null;
    await listen(
      createNetServer((socket) =>
        socket.once('data', () => {
          under = socket;
        }),
      ),
    );
    const told: string[] = [];
    const client = new ServiceClient({
      ...{ url: `http://127.0.0.1:${port}`, concurrency: 1, firstRetryMs: 1 },
      ...{ isPatient: true, onDown: ({ message }) => told.push(message) },
    });
    const answer = client.request({ ...ask, maxRetries: 0 });
    await vi.waitFor(() => expect(under).not.toBeNull(), { timeout: 120_000 });
    const ended = new Promise((resolve) => servers[0].close(resolve));
    (under as Socket | null)?.destroy();
    await ended;
    let numGarbage = 0;
    await listen(
      createNetServer((other) => {
        other.on('error', () => undefined).resume();
        other.end(Buffer.from([0, 255, 13, 10, 7]), () => numGarbage++);
      }),
    );
    await vi.waitFor(() => expect(numGarbage).toBeGreaterThan(0), { timeout: 120_000 });
    await new Promise((resolve) => servers[1].close(resolve));
    await listen(createServer((_, response) => response.end('good')));
    expect(await answer).toBe('good');
    expect(told).toHaveLength(1);
    await client.close();
    await new Promise((resolve) => servers[2].close(resolve));
    server = { close: () => Promise.resolve() } as FixtureServer;
  });

  it('says why a server was down until the deadline, and asks it with pauses', async () => {
    const client = await clientOf(
      () => ({ status: 503, headers: { 'retry-after': '0' }, body: 'starting' }),
      {
        isPatient: true,
        firstRetryMs: 20,
      },
    );
    const fault = await faultOf(client.request({ ...ask, maxRetries: 0, deadlineMs: 4_000 }));
    expect(fault).toMatchObject({ code: 'HTTP_STATUS', status: 503 });
    expect(client.counts.numRequests).toBeLessThan(12);
  });

  it('does not wait where the request must not, or where a gateway refuses the request itself', async () => {
    const down = { status: 503, body: '' };
    const tooLarge = { ...page, status: 413 };
    const client = await clientOf((n) => [down, tooLarge][n] ?? { body: 'good' }, { isPatient: true });
    expect(await faultOf(client.request({ ...ask, maxRetries: 0, waits: false }))).toMatchObject({
      status: 503,
    });
    expect(await faultOf(client.request({ ...ask, maxRetries: 0 }))).toMatchObject({
      code: 'HTTP_STATUS',
      status: 413,
    });
  });

  it('names the address where another program answers', async () => {
    const client = await clientOf(() => page);
    expect(await faultOf(client.request({ ...ask, maxRetries: 0 }))).toMatchObject({
      code: 'OTHER_PROGRAM',
      message: `a web page answers at ${server.url}, no server of a model (HTTP 200): <h1>It works!</h1>`,
    });
  });
});
