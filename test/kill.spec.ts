import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { isAlive, makeDataDirectory, runRetrace, startRetrace } from './support/cli.mjs';
import { trainWithKills, type Kill } from './support/kill-drill.mjs';

const recipe = [
  ...['--recipe', 'bandit-ppo', '--updates', '7', '--backend', 'wasm'],
  ...['--set', 'evaluation.numTestEpisodes=100', '--set', 'evaluation.numValidationEpisodes=50'],
];
const update = (number: number) => new RegExp(`update ${String(number)} `);

describe('a run that is killed', () => {
  const directories: { path: string; remove: () => void }[] = [];
  const newDirectory = () => {
    const directory = makeDataDirectory();
    directories.push(directory);
    return directory.path;
  };
  afterEach(() => {
    for (const directory of directories.splice(0)) directory.remove();
  });

  it('ends with the same policy as one that never was, and loses or doubles nothing', async () => {
    const kills: Kill[] = [
      { target: 'tree', afterUpdate: 0, delayMs: 900 },
      { target: 'collector', afterUpdate: 1, delayMs: 130 },
      { target: 'trainer', afterUpdate: 2, delayMs: 420 },
      { target: 'store', afterUpdate: 3, delayMs: 60 },
      { target: 'sink', afterUpdate: 4, delayMs: 250 },
      { target: 'tree', afterUpdate: 5, delayMs: 340 },
    ];
    const options = { withinMs: 90_000 };
    const undisturbedDir = newDirectory();
    const undisturbed = await trainWithKills([...recipe, '--data-dir', undisturbedDir], [], options);
    const dataDir = newDirectory();
    const killed = await trainWithKills([...recipe, '--data-dir', dataDir], kills, options);

    expect(killed.numUpdates).toBe(7);
    expect(killed.weightsSha256).toBe(undisturbed.weightsSha256);
    expect(killed.metrics['test/success']).toBe(undisturbed.metrics['test/success']);
    const verified = await runRetrace(['verify', '--data-dir', dataDir]);
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    const counted = await runRetrace([
      'sql',
      'SELECT count() AS n, uniqExact(update_number) AS u FROM updates WHERE applied_at IS NOT NULL',
      '--json',
      ...['--data-dir', dataDir],
    ]);
    expect(JSON.parse(counted.stdout)).toEqual([{ n: 7, u: 7 }]);

    // Weights of versions 0 … 7 and the newest three optimizer states, whoever wrote the others.
    const checkpointsOf = (directory: string) => readdirSync(join(directory, 'checkpoints')).sort();
    expect(checkpointsOf(dataDir)).toHaveLength(8 + 3);
    expect(checkpointsOf(dataDir)).toEqual(checkpointsOf(undisturbedDir));
    const replayed = await runRetrace([
      'replay',
      '--update',
      '3',
      '--backend',
      'wasm',
      '--data-dir',
      dataDir,
    ]);
    expect(replayed.code).toBe(1);
    expect(replayed.stderr).toMatch(
      /^retrace: update 3: a file of the state that it starts from can't be read \(checkpoint file [0-9a-f]{64} is not there\); .* what can be replayed is update 1, 6–7$/,
    );
  }, 240_000);

  it('leaves no process behind when its supervisor is killed', async () => {
    const session = startRetrace(['train', ...recipe, '--data-dir', newDirectory()]);
    await session.waitFor(update(1));
    const pids = Object.values(session.roles());
    expect(pids.length).toBe(4);
    process.kill(session.pid, 'SIGKILL');
    for (let i = 0; i < 120 && pids.some(isAlive); i++)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(pids.filter(isAlive)).toEqual([]);
  }, 90_000);

  it('stops in order on SIGTERM, exits with 0 and goes on when it is started again', async () => {
    const args = ['train', ...recipe, '--data-dir', newDirectory()];
    const first = startRetrace(args);
    const runId = await first.waitFor(/started bandit-ppo, run (\S+)/);
    await first.waitFor(update(2));
    expect(await first.stop('SIGTERM')).toBe(0);
    const second = startRetrace(args);
    expect(await second.waitFor(/going on with bandit-ppo, run (\S+)/)).toBe(runId);
    expect(await second.ended).toBe(0);
    expect(second.lines.filter((line) => update(2).test(line))).toEqual([]);
  }, 120_000);
});
