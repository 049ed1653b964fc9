import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, root, runRetrace, startRetrace } from '../support/cli.mjs';

const bandit = [
  ...['--recipe', 'bandit-ppo', '--backend', 'wasm'],
  ...['--set', 'evaluation.everyUpdates=0', '--set', 'evaluation.numTestEpisodes=0'],
];

describe('a second run beside a running server', () => {
  let directory: ReturnType<typeof makeDataDirectory>;
  let server: ReturnType<typeof startRetrace>;
  const dataDir = () => ['--data-dir', directory.path];
  const serve = () => startRetrace(['up', '--no-training', '--port', '0', ...dataDir()]);

  beforeAll(() => {
    directory = makeDataDirectory();
    server = serve();
  });
  afterAll(async () => {
    await server.killTree();
    directory.remove();
  });

  it('joins it, is trained by one process only, and goes on while no server or another one is there', async () => {
    await server.untilServing();
    const openedBy = join(directory.path, 'go-on');
    const module = join(root, 'test/support/gated-arms.ts');
    const environment = JSON.stringify({ module, options: { numFree: 64, openedBy } });
    const gated = [
      ...['train', ...bandit, '--updates', '3', '--set', 'collection.groupsPerRound=32'],
      ...['--set', `environment=${environment}`, '--set', 'collection.resetTimeoutMs=600000', ...dataDir()],
    ];
    const joined = startRetrace(gated);
    try {
      const runId = await joined.waitFor(/started bandit-ppo, run (\S+)/);
      await joined.waitFor(/joining process \d+, which serves http:/);
      await joined.waitFor(/update 1 of 3/);
      expect(await runRetrace(gated)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(
          `run ${runId} of bandit-ppo with this seed is being trained by process ${joined.pid}; `,
        ) as string,
      });

      expect(await server.stop('SIGTERM')).toBe(0);
      expect(await runRetrace(['compact', ...dataDir()])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('a command that joined a server still writes') as string,
      });
      expect(await runRetrace(['runs', 'delete', runId, ...dataDir()])).toMatchObject({
        code: 1,
        stderr: `retrace: run ${runId} has not ended and a command that joined a server still writes; stop that first`,
      });
      server = serve();
      await server.untilServing();
      writeFileSync(openedBy, '');
      expect(await joined.ended).toBe(0);
      const { stdout } = await runRetrace(['runs', '--json', ...dataDir()]);
      expect(JSON.parse(stdout)).toMatchObject([{ run_id: runId, end_reason: 'finished', num_updates: 3 }]);
      expect(await runRetrace(['verify', ...dataDir()])).toMatchObject({ code: 0 });
    } finally {
      await joined.killTree();
    }
  });

  it(
    'starts, queues, cancels, stops and resumes runs over the API, also through a restart',
    { tags: 'release' },
    async () => {
      let url = await server.untilServing();
      interface Item {
        readonly queueId: string;
        readonly runId: string | null;
        readonly status: string;
        readonly start: { readonly seed?: number } | null;
      }
      interface Queue {
        readonly running: Item | null;
        readonly queued: readonly Item[];
        readonly ended: readonly Item[];
      }
      const call = async (method: string, path: string, body?: unknown): Promise<Queue> => {
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(`${url}/api/${path}`, {
          method,
          ...(body !== undefined && { headers, body: JSON.stringify(body) }),
        });
        expect(response.status, path).toBe(200);
        return (await response.json()) as Queue;
      };
      const until = async (isReached: (queue: Queue) => boolean): Promise<Queue> => {
        for (;;) {
          const queue = await call('GET', 'queue');
          if (isReached(queue)) return queue;
          await sleep(100);
        }
      };
      const overrides = {
        'evaluation.everyUpdates': 0,
        'evaluation.numTestEpisodes': 0,
        'collection.groupsPerRound': 16,
      };
      const start = (seed: number, numUpdates: number) =>
        call('POST', 'queue', { recipe: 'bandit-ppo', seed, numUpdates, overrides });

      await start(21, 100_000);
      await start(22, 1);
      const { queued } = await start(23, 1);
      expect(queued.map((item) => item.start?.seed).slice(-2)).toEqual([22, 23]);
      await call('DELETE', `queue/${queued.at(-1)?.queueId}`);
      const { running } = await until((queue) => queue.running?.runId != null);
      const long = running?.runId as string;
      expect(running?.start?.seed).toBe(21);
      const refused = await runRetrace([
        ...['train', '--recipe', 'bandit-ppo', '--seed', '21', '--updates', '100000', ...dataDir()],
        ...Object.entries(overrides).flatMap(([field, value]) => ['--set', `${field}=${value}`]),
      ]);
      expect(refused.stderr).toContain(`run ${long} of bandit-ppo with this seed is being trained by`);

      await server.stop('SIGTERM');
      server = serve();
      url = await server.untilServing();
      expect((await until((queue) => queue.running !== null)).running?.runId).toBe(long);
      await server.waitFor(/resuming bandit-ppo/);
      await call('POST', `runs/${long}/training`, { action: 'stop' });
      const { ended } = await until((queue) => queue.running === null && queue.ended.length === 2);
      expect(ended.map(({ status, start: asked }) => [status, asked?.seed])).toEqual([
        ['finished', 22],
        ['stopped', 21],
      ]);
      await call('POST', `runs/${long}/training`, { action: 'resume' });
      await until((queue) => queue.running?.runId === long);
      await call('POST', `runs/${long}/training`, { action: 'stop' });
      await until((queue) => queue.running === null);
      expect(await server.stop('SIGTERM')).toBe(0);
    },
  );
});
