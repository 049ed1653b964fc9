import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveRecipe } from '@retrace/config';
import { DataDirectory } from '@retrace/process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

  it('leaves nothing of it, and says nothing of the one before to the next', async () => {
    const lock = await RecipeLock.acquire(directory, recipe);
    lock.nameRun('0197-run');
    lock.release();
    expect(readdirSync(join(directory.root, 'lock'))).toEqual([]);
    const next = await RecipeLock.acquire(directory, recipe);
    await expect(RecipeLock.acquire(directory, recipe)).rejects.toThrow('a run of bandit-ppo with this seed');
    next.release();
  });
});
