import { afterAll, describe, expect, it } from 'vitest';
import { DataDirectories, runRetrace, startRetrace } from './support/cli.mjs';

const environment = {
  // The option changes modules that the processes must load as they are.
  RETRACE_BUNDLE: 'no',
  NODE_OPTIONS: `--import=${new URL('support/chaos-environment.mjs', import.meta.url).href}`,
};
const settings = [
  'environment=chaos',
  'collection.groupsPerRound=8',
  'collection.resetTimeoutMs=200',
  'collection.stepTimeoutMs=200',
  'evaluation.everyUpdates=0',
  'evaluation.numTestEpisodes=0',
].flatMap((setting) => ['--set', setting]);

describe('a run in an environment whose scripted agent never answers', () => {
  const data = new DataDirectories();
  afterAll(() => {
    data.removeAll();
  });

  it('is trained beside the baselines that never end, and stops when asked to', async () => {
    const path = data.make();
    const run = ['--recipe', 'bandit-ppo', '--updates', '2', '--backend', 'wasm', ...settings];
    const server = startRetrace(['up', ...run, '--port', '0', '--data-dir', path], environment);
    try {
      await server.waitFor(/the run has finished/, 90_000);
      expect(await server.stop('SIGTERM')).toBe(0);
    } finally {
      server.child.kill('SIGKILL');
    }
    const { stdout } = await runRetrace(['sql', '--json', '--data-dir', path, 'SELECT baselines FROM runs']);
    expect(JSON.parse(stdout)).toEqual([{ baselines: '[]' }]);
  });
});
