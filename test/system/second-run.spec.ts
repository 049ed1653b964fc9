import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
});
