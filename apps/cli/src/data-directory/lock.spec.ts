import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataDirectoryLock } from './lock.js';

describe('DataDirectoryLock', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-lock-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  const acquire = (waitMs = 0) => DataDirectoryLock.acquire(directory, { waitMs, shownAs: './data' });

  it('is held by one process at a time', async () => {
    const lock = await acquire();
    expect(DataDirectoryLock.isHeld(directory)).toBe(true);
    await expect(acquire()).rejects.toMatchObject({
      code: 'DATA_DIRECTORY_IN_USE',
      message:
        'data directory ./data: in use by another process; wait for it or stop it, or choose another with --data-dir',
    });
    lock.release();
    expect(DataDirectoryLock.isHeld(directory)).toBe(false);
    (await acquire()).release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it(
    'goes to exactly one of many concurrent claims, and then to each in turn',
    { tags: 'release' },
    async () => {
      let numHolders = 0;
      let numEntries = 0;
      await Promise.all(
        Array.from({ length: 12 }, async () => {
          const lock = await acquire(250_000);
          numHolders += 1;
          numEntries += 1;
          expect(numHolders).toBe(1);
          await new Promise((resolve) => setTimeout(resolve, 5));
          numHolders -= 1;
          lock.release();
        }),
      );
      expect(numEntries).toBe(12);
    },
  );

  it('is shared by any number of processes, beside one that holds it', async () => {
    const [first, second] = [DataDirectoryLock.share(directory), DataDirectoryLock.share(directory)];
    const lock = await acquire();
    first.release();
    expect(DataDirectoryLock.isShared(directory)).toBe(true);
    second.release();
    expect(DataDirectoryLock.isShared(directory)).toBe(false);
    expect(DataDirectoryLock.isHeld(directory)).toBe(true);
    lock.release();
  });

  it('waits for a holder that releases it in time', async () => {
    const lock = await acquire();
    setTimeout(() => {
      lock.release();
    }, 100);
    (await acquire(250_000)).release();
  });

  it('stays held while a child that inherited it lives, and is free once the child is killed', async () => {
    const lock = await acquire();
    const child = spawn(process.execPath, ['-e', 'console.log("up"); setInterval(() => undefined, 1000)'], {
      stdio: ['ignore', 'pipe', 'inherit', lock.fileDescriptor],
    });
    await once(child.stdout!, 'data');
    closeSync(lock.fileDescriptor); // as when the holder is killed: its file is left behind
    expect(DataDirectoryLock.isHeld(directory)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(DataDirectoryLock.isHeld(directory)).toBe(false);
    (await acquire()).release();
  });
});
