import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileLock } from './file-lock.js';

describe('a lock on a file', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-file-lock-'));
    path = join(directory, 'made', 'held');
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it('is for one at a time, and leaves nothing', async () => {
    expect(FileLock.isHeld(path)).toBe(false);
    const lock = await FileLock.tryAcquire(path);
    expect(FileLock.isHeld(path)).toBe(true);
    expect(await FileLock.tryAcquire(path)).toBeNull();
    lock?.release();
    expect(FileLock.isHeld(path)).toBe(false);
    (await FileLock.tryAcquire(path))?.release();
    expect(readdirSync(join(directory, 'made'))).toEqual([]);
  });

  it('goes to exactly one of many at once, while others look, and to the next when it is given back', async () => {
    let isLooking = true;
    const looking = (async () => {
      for (; isLooking; await sleep(0)) FileLock.isHeld(path);
    })();
    for (let round = 0; round < 20; round++) {
      const taken = await Promise.all(Array.from({ length: 30 }, () => FileLock.tryAcquire(path)));
      const locks = taken.filter((lock) => lock !== null);
      expect(locks).toHaveLength(1);
      locks[0].release();
    }
    isLooking = false;
    await looking;
  });

  it('never is for two, however soon the file is removed and made again', async () => {
    let numHolders = 0;
    let numTurns = 0;
    const turns = Array.from({ length: 8 }, async () => {
      for (let left = 25; left > 0;) {
        const lock = await FileLock.tryAcquire(path);
        if (lock === null) {
          await sleep(0);
          continue;
        }
        expect(++numHolders).toBe(1);
        await sleep(0);
        numHolders--;
        numTurns++;
        left--;
        lock.release();
      }
    });
    await Promise.all(turns);
    expect(numTurns).toBe(8 * 25);
  });

  it('is shared by any number, and free when the last of them gives it back', () => {
    const [first, second] = [FileLock.share(path), FileLock.share(path)];
    first.release();
    expect(FileLock.isShared(path)).toBe(true);
    second.release();
    expect(FileLock.isShared(path)).toBe(false);
  });

  it('stays while a child lives that inherited it, and is free once the child is killed', async () => {
    const lock = await FileLock.tryAcquire(path);
    const child = spawn(process.execPath, ['-e', 'console.log("up"); setInterval(() => undefined, 1000)'], {
      stdio: ['ignore', 'pipe', 'inherit', lock?.fileDescriptor],
    });
    await once(child.stdout!, 'data');
    // As when its holder is killed: the file is left behind.
    closeSync(lock!.fileDescriptor);
    expect(FileLock.isHeld(path)).toBe(true);
    expect(await FileLock.tryAcquire(path)).toBeNull();
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(FileLock.isHeld(path)).toBe(false);
    (await FileLock.tryAcquire(path))?.release();
  });
});
