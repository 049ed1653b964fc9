import { afterAll, describe, expect, it, vi } from 'vitest';
import { DataDirectories, isAlive, runRetrace, startRetrace } from '../support/cli.mjs';
import { findFreePort } from '../../libs/process/free-port.mjs';
import { isWorker, workersBelow } from './processes.js';
import { obstacle, PYTHON } from './torch.js';

/* The commands on whole runs: training on a worker that they start, another engine in mid-run, replay, doctor. */

/** Whole runs, of which each takes a minute on a quiet machine. */
vi.setConfig({ testTimeout: 1_200_000 });

const directories = new DataDirectories();
const sessions: ReturnType<typeof startRetrace>[] = [];
const start = (args: readonly string[]) => {
  const session = startRetrace(args);
  sessions.push(session);
  return session;
};
afterAll(async () => {
  await Promise.all(sessions.map((session) => session.killTree()));
  directories.removeAll();
});

const ON_TORCH = ['--engine', 'torch', '--engine-python', PYTHON];
const FEW = ['--set', 'collection.groupsPerRound=64', '--set', 'evaluation.everyUpdates=0'];

describe.skipIf(obstacle !== null)(obstacle ?? 'retrace train --engine torch', () => {
  const query = async (directory: string, sql: string) => {
    const { code, stdout, stderr } = await runRetrace(['--data-dir', directory, '--json', 'sql', sql]);
    expect(stderr.includes('error') ? stderr : code).toBe(0);
    return JSON.parse(stdout) as readonly Readonly<Record<string, string | number>>[];
  };
  const enginesOf = (directory: string) =>
    query(
      directory,
      'SELECT engine, count() AS updates, max(engine_processes) AS processes FROM updates GROUP BY engine ORDER BY engine',
    );

  it('learns in two processes what the default learns, ends them with the run, and replays bit for bit', async () => {
    const recipe = [
      'train',
      '--recipe',
      'bandit-ppo',
      '--updates',
      '24',
      '--set',
      'evaluation.everyUpdates=24',
    ];
    const faster = ['--set', 'optimizer.learningRate=0.001', '--set', 'evaluation.numTestEpisodes=400'];
    const success: number[] = [];
    for (const engine of [
      ['--engine', 'tensorflow'],
      [...ON_TORCH, '--nproc', '2'],
    ]) {
      const directory = directories.make();
      const { code, stderr } = await runRetrace(['--data-dir', directory, ...recipe, ...faster, ...engine]);
      expect(code === 0 ? '' : stderr).toBe('');
      const [{ value }] = await query(
        directory,
        "SELECT value FROM metrics WHERE name = 'test/success' ORDER BY occurred_at DESC LIMIT 1",
      );
      success.push(Number(value));
      if (!engine.includes('torch')) continue;
      expect(await enginesOf(directory)).toEqual([{ engine: 'torch', updates: 24, processes: 2 }]);
      const replayed = await runRetrace(['--data-dir', directory, 'replay', '--update', 'latest']);
      expect(replayed.stdout).toContain('weights: bit-identical');
      expect((await runRetrace(['--data-dir', directory, 'verify'])).code).toBe(0);
    }
    const [ofDefault, ofTorch] = success;
    expect(ofDefault).toBeGreaterThan(0.5);
    expect(Math.abs(ofTorch - ofDefault)).toBeLessThan(0.1);
    expect(workersBelow(process.pid)).toEqual([]);
  });

  it('leaves no worker when it is killed, and the run goes on with the default engine', async () => {
    const directory = directories.make();
    const recipe = ['--data-dir', directory, 'train', '--recipe', 'bandit-ppo', '--updates', '12', ...FEW];
    const session = start([...recipe, ...ON_TORCH]);
    await session.waitFor(/update 4 of 12/, 600_000);
    const workers = workersBelow(session.pid);
    expect(workers).toHaveLength(1);
    await session.killTree();
    await expect.poll(() => workers.filter((pid) => isAlive(pid) && isWorker(pid))).toEqual([]);
    const { code, stderr } = await runRetrace(recipe);
    expect(code === 0 ? '' : stderr).toBe('');
    const engines = await enginesOf(directory);
    expect(engines.map(({ engine }) => engine)).toEqual(['tensorflow', 'torch']);
    expect(engines.reduce((sum, { updates }) => sum + Number(updates), 0)).toBe(12);
    expect(await query(directory, 'SELECT count() AS runs FROM runs')).toEqual([{ runs: 1 }]);
    const elsewhere = await runRetrace([
      ...['--data-dir', directory, 'replay', '--update', '2', '--engine', 'tensorflow'],
    ]);
    expect(elsewhere.stdout).toMatch(/engine: recorded on torch \(.*\), replayed on tensorflow \(/);
    expect(elsewhere.code).toBe(0);
    expect((await runRetrace(['--data-dir', directory, 'verify'])).code).toBe(0);
  });

  it('serves a worker that a run is pointed to, which is still there after the run', async () => {
    const directory = directories.make();
    const tokenFile = `${directory}/token`;
    const port = `${await findFreePort()}`;
    const worker = start(['engine', 'torch', '--python', PYTHON, '--port', port, '--token-file', tokenFile]);
    await worker.waitFor(/"event": ?"ready"/, 240_000);
    const { code, stderr } = await runRetrace([
      ...['--data-dir', directory, 'train', '--recipe', 'bandit-ppo', '--updates', '2', ...FEW],
      ...['--engine-url', `http://127.0.0.1:${port}`, '--engine-token-file', tokenFile],
    ]);
    expect(code === 0 ? '' : stderr).toBe('');
    expect(await enginesOf(directory)).toEqual([{ engine: 'torch', updates: 2, processes: 1 }]);
    expect(workersBelow(worker.pid)).toHaveLength(1);
    await worker.stop('SIGTERM');
    expect(workersBelow(process.pid)).toEqual([]);
  });

  it('says before anything starts what is missing', async () => {
    const directory = directories.make();
    const found = await runRetrace([
      ...['--data-dir', directory, 'doctor', '--engine', 'torch', '--engine-python', PYTHON],
    ]);
    expect(found.stdout).toMatch(/ok +python +3\.\d+.*torch 2\./);
    const missing = await runRetrace([
      ...['--data-dir', directory, 'doctor', '--engine', 'torch', '--engine-python', '/nonexistent/python'],
    ]);
    expect(missing.stdout).toMatch(/fail +python +\/nonexistent\/python: there is no such program/);
    expect(missing.code).not.toBe(0);
    const refused = await runRetrace([
      ...['--data-dir', directory, 'train', '--recipe', 'bandit-ppo', ...ON_TORCH],
      ...['--set', 'optimizer.dataParallel=2'],
    ]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('optimizer.dataParallel: got 2, which engine "torch" can\'t honour');
  });
});
