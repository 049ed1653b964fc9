import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireLock, isLocked, isShared } from './lock.js';

describe('acquireLock', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-lock-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  const acquire = (waitMs = 0) => acquireLock(join(directory, 'held'), { waitMs, shownAs: './data' });

  it('refuses a second one', async () => {
    const lock = await acquire();
    await expect(acquire()).rejects.toMatchObject({
      code: 'DATA_DIRECTORY_IN_USE',
      message:
        'data directory ./data: in use by another process; wait for it or stop it, or choose another with --data-dir',
    });
    lock.release();
    (await acquire()).release();
  });

  it('waits for a holder that releases it in time', async () => {
    const lock = await acquire();
    setTimeout(() => {
      lock.release();
    }, 100);
    (await acquire(250_000)).release();
  });

  it('says which file it cannot lock', async () => {
    writeFileSync(join(directory, 'file'), '');
    const path = join(directory, 'file', 'held');
    await expect(acquireLock(path, { waitMs: 0, shownAs: './data' })).rejects.toMatchObject({
      code: 'DATA_DIRECTORY_UNUSABLE',
      message: expect.stringContaining(path) as string,
    });
  });
});

describe('isLocked, isShared', () => {
  it('say which file cannot be opened, and that a missing one has no holder', () => {
    const directory = mkdtempSync(join(tmpdir(), 'retrace-lock-'));
    writeFileSync(join(directory, 'file'), '');
    const path = join(directory, 'file', 'held');
    const fault = expect.objectContaining({
      code: 'DATA_DIRECTORY_UNUSABLE',
      message: expect.stringContaining(`cannot lock ${path} (ENOTDIR)`) as string,
    }) as Error;
    expect(() => isLocked(path)).toThrow(fault);
    expect(() => isShared(path)).toThrow(fault);
    expect([isLocked(join(directory, 'held')), isShared(join(directory, 'held'))]).toEqual([false, false]);
    rmSync(directory, { recursive: true });
  });
});
