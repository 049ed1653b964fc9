import { afterEach, describe, expect, it } from 'vitest';
import { startFixtureServer, type FixtureServer, type Reply } from '../http/fixture-server.fixture.js';
import { ServiceClient } from '../http/service-client.js';
import { SglangWeights } from './sglang-weights.js';

const OPTIONS = { timeoutMs: 5_000, maxRetries: 0 };
const FOUR = { name: 'retrace-run-4', directory: '/weights/4' };

describe('SglangWeights', () => {
  let server: FixtureServer;
  afterEach(() => server.close());

  /** A server whose version changes with each update, unless `update` answers otherwise. */
  async function open(
    update: (asked: Record<string, unknown>) => Reply = () => ({ body: { success: true } }),
  ) {
    let version = 'default';
    server = await startFixtureServer(({ path, body }) => {
      if (path === '/model_info') return { body: { weight_version: version } };
      if (path !== '/update_weights_from_disk') return { body: {} };
      const asked = body as Record<string, unknown>;
      const reply = update(asked);
      if ((reply.body as { success?: boolean }).success) version = asked.weight_version as string;
      return reply;
    });
    return new SglangWeights(
      new ServiceClient({ url: server.url, concurrency: 2, firstRetryMs: 1 }),
      OPTIONS,
    );
  }
  const posted = () => server.asked.filter(({ method }) => method === 'POST');

  it('replaces weights once, while the server is paused, and asks it for the version', async () => {
    const weights = await open();
    const confirmed = { version: 'retrace-run-4', model: '' };
    expect(await weights.deliver(FOUR)).toEqual(confirmed);
    expect(await weights.deliver(FOUR)).toEqual(confirmed);
    expect(posted().map(({ path, body }) => [path, body])).toEqual([
      ['/pause_generation', { mode: 'retract' }],
      [
        '/update_weights_from_disk',
        {
          model_path: '/weights/4',
          weight_version: 'retrace-run-4',
          abort_all_requests: false,
          flush_cache: true,
        },
      ],
      ['/continue_generation', {}],
    ]);
  });

  it('resumes a server that did not take the weights, and says why it did not', async () => {
    const weights = await open(() => ({ status: 400, body: { success: false, message: 'no such file' } }));
    await expect(weights.deliver(FOUR)).rejects.toMatchObject({ code: 'HTTP_STATUS', status: 400 });
    expect(posted().at(-1)?.path).toBe('/continue_generation');
  });

  it('refuses a server that still says another version', async () => {
    const weights = await open((asked) => {
      asked.weight_version = 'retrace-run-3';
      return { body: { success: true } };
    });
    await expect(weights.deliver(FOUR)).rejects.toMatchObject({
      code: 'WEIGHTS_NOT_TAKEN',
      message:
        'the server says that it serves version retrace-run-3 after version retrace-run-4 was delivered',
    });
  });
});
