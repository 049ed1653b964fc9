import { afterEach, describe, expect, it, vi } from 'vitest';
import { ServerProcess } from '@retrace/process';
import { ServerPool } from './server-pool.js';

/** Answers its process id. */
const SERVER = `
require('node:http').createServer((_, response) => response.end(JSON.stringify(process.pid)))
  .listen(Number(process.argv[1]), '127.0.0.1');`;

const pidOf = async (url: string) => (await (await fetch(url)).json()) as number;

describe('ServerPool', () => {
  const options = { maxEpisodes: 1, recycleAfterEpisodes: null };
  let server: ServerProcess | null = null;
  afterEach(() => server?.stop());

  it('divides environments among servers, and lets others wait', async () => {
    const servers = ['http://a', 'http://b'].map((url) => ({ process: null, url }));
    const pool = new ServerPool({ ...options, servers });
    const [first, second] = [await pool.take(), await pool.take()];
    expect([first.url, second.url].sort()).toEqual(['http://a', 'http://b']);
    const third = pool.take();
    second.release(false);
    expect((await third).url).toBe(second.url);
    expect(pool.capacity).toBe(2);
  });

  const startPool = async (limits: { maxEpisodes: number; recycleAfterEpisodes: number | null }) => {
    server = new ServerProcess({
      ...{ command: [process.execPath, '-e', SERVER, '{port}'], directory: undefined, port: null },
      ...{ startTimeoutMs: 20_000, check: async (url, signal) => void (await fetch(url, { signal })) },
    });
    return new ServerPool({ ...limits, servers: [{ process: server, url: await server.start() }] });
  };

  it('replaces a server that is old, and one that died', async () => {
    const pool = await startPool({ maxEpisodes: 1, recycleAfterEpisodes: 2 });
    const lease = await pool.take();
    const first = await pidOf(lease.url);
    expect([lease.beginEpisode(), lease.beginEpisode(), lease.beginEpisode()]).toEqual([true, true, false]);
    lease.release(false);
    const next = await pool.take();
    const second = await pidOf(next.url);
    expect(second).not.toBe(first);
    process.kill(second, 'SIGKILL');
    await vi.waitUntil(
      () =>
        fetch(next.url).then(
          () => false,
          () => true,
        ),
      { timeout: 120_000 },
    );
    next.release(true);
    const third = await pidOf((await pool.take()).url);
    expect(third).not.toBe(second);
    await pool.close();
    await expect(pool.take()).rejects.toMatchObject({ code: 'SERVER_FAILED' });
  });

  it('calls back the places of an old server between their episodes', async () => {
    const pool = await startPool({ maxEpisodes: 3, recycleAfterEpisodes: 3 });
    const [idle, playing, third] = [await pool.take(), await pool.take(), await pool.take()];
    const first = await pidOf(idle.url);
    idle.beginEpisode();
    idle.endEpisode(() => {
      idle.release(false);
    });
    playing.beginEpisode();
    third.beginEpisode();
    expect(third.beginEpisode()).toBe(false);
    third.release(false);
    const next = pool.take();
    playing.endEpisode(() => {
      playing.release(false);
    });
    expect(await pidOf((await next).url)).not.toBe(first);
  });

  it('keeps a server that answers, however many episodes failed on it at once', async () => {
    const pool = await startPool({ maxEpisodes: 2, recycleAfterEpisodes: null });
    const [one, other] = [await pool.take(), await pool.take()];
    const pid = await pidOf(one.url);
    one.release(true);
    other.release(true);
    expect(await pidOf((await pool.take()).url)).toBe(pid);
  });

  it('replaces a dead server once, and gives its places out again before all old ones are back', async () => {
    const pool = await startPool({ maxEpisodes: 2, recycleAfterEpisodes: null });
    const [one, other] = [await pool.take(), await pool.take()];
    process.kill(await pidOf(one.url), 'SIGKILL');
    await vi.waitUntil(
      () =>
        fetch(one.url).then(
          () => false,
          () => true,
        ),
      { timeout: 120_000 },
    );
    one.release(true);
    const [next, last] = [await pool.take(), await pool.take()];
    expect(other.beginEpisode()).toBe(false);
    other.release(true);
    expect([next.beginEpisode(), last.beginEpisode()]).toEqual([true, true]);
    expect(await pidOf(next.url)).toBe(await pidOf(last.url));
  });
});
