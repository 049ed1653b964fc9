import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { resolveRecipe } from '@retrace/config';
import { DataDirectory } from '@retrace/process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataDirectoryLock } from './lock.js';
import { RecipeLock } from './recipe-lock.js';

describe('RecipeLock', () => {
  let directory: DataDirectory;
  beforeEach(() => {
    directory = new DataDirectory(mkdtempSync(join(tmpdir(), 'retrace-recipe-')));
  });
  afterEach(() => {
    rmSync(directory.root, { recursive: true });
  });
  const recipe = resolveRecipe('bandit-ppo');

  it('refuses a second training of a recipe at once, naming the run and who trains it', async () => {
    const lock = await RecipeLock.acquire(directory, recipe);
    await expect(RecipeLock.acquire(directory, recipe)).rejects.toMatchObject({
      code: 'RUN_ACTIVE',
      message: expect.stringContaining('a run of bandit-ppo with this seed is being trained by') as string,
    });
    lock.nameRun('0197-run');
    await expect(RecipeLock.acquire(directory, recipe)).rejects.toThrow(
      `run 0197-run of bandit-ppo with this seed is being trained by process ${process.pid}; wait for its end, stop that process to go on with the run here, or begin another run with --seed`,
    );
    lock.release();
    (await RecipeLock.acquire(directory, recipe)).release();
  });

  it('takes the same recipe in other processes for the same, and one with another seed for another', async () => {
    const lock = await RecipeLock.acquire(directory, recipe);
    const apart = resolveRecipe('bandit-ppo', { assignments: ['process.colocate=false'] });
    await expect(RecipeLock.acquire(directory, apart)).rejects.toMatchObject({ code: 'RUN_ACTIVE' });
    const other = await RecipeLock.acquire(directory, resolveRecipe('bandit-ppo', { seed: 2 }));
    other.release();
    lock.release();
  });

  const lockDirectories = () =>
    readdirSync(join(directory.root, 'lock')).map((name) => join(directory.root, 'lock', name));

  it('removes its directory when the last of those who hold or claim it lets go', async () => {
    const lock = await RecipeLock.acquire(directory, recipe);
    const [path] = lockDirectories();
    const next = DataDirectoryLock.acquire(path, { waitMs: 250_000, shownAs: 'data' });
    lock.release();
    (await next).release();
    expect(lockDirectories()).toEqual([path]);
    const last = await RecipeLock.acquire(directory, recipe);
    await expect(RecipeLock.acquire(directory, recipe)).rejects.toMatchObject({ code: 'RUN_ACTIVE' });
    expect(existsSync(join(path, 'trainer.json'))).toBe(true);
    last.release();
    expect(lockDirectories()).toEqual([]);
  });

  it('is taken where another process removes the directory before the first file is in it', async () => {
    const lock = await RecipeLock.acquire(directory, recipe);
    const [path] = lockDirectories();
    lock.release();
    // The other process: it removes the directory, twice, at the moment at which this one is about to make its FIFO.
    const programs = join(directory.root, 'programs');
    mkdirSync(programs);
    const mkfifo = execFileSync('sh', ['-c', 'command -v mkfifo'], { encoding: 'utf8' }).trim();
    const removals = join(directory.root, 'removals');
    const script = `#!/bin/sh\n[ "$(wc -l < ${removals})" -lt 2 ] && rmdir ${path} && echo >> ${removals}\nexec ${mkfifo} "$@"\n`;
    writeFileSync(join(programs, 'mkfifo'), script, { mode: 0o700 });
    writeFileSync(removals, '');
    const { PATH } = process.env;
    process.env.PATH = [programs, PATH].join(delimiter);
    try {
      const taken = await RecipeLock.acquire(directory, recipe);
      expect(DataDirectoryLock.isHeld(path)).toBe(true);
      taken.release();
      expect(readFileSync(removals, 'utf8')).toBe('\n\n');
    } finally {
      process.env.PATH = PATH;
    }
    expect(lockDirectories()).toEqual([]);
  });
});
