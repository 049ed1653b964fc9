import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileLock } from './file-lock.js';

/** Others act just before a lock is tried. */
const beforeTrying = vi.hoisted((): { current: () => void } => ({ current: () => undefined }));

vi.mock(import('fs-native-extensions'), async (importOriginal) => {
  const original = await importOriginal();
  return {
    ...original,
    tryLock: (...given: Parameters<typeof original.tryLock>) => {
      beforeTrying.current();
      return original.tryLock(...given);
    },
  };
});

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

  it('is not taken on a file that its holder removes, and another makes again, between opening and locking it', async () => {
    const first = await FileLock.tryAcquire(path);
    let second: number | null = null;
    beforeTrying.current = () => {
      beforeTrying.current = () => undefined;
      first?.release();
      second = openSync(path, 'a+');
      expect(tryLock(second)).toBe(true);
    };
    expect(await FileLock.tryAcquire(path)).toBeNull();
    closeSync(second!);
  });

  it('leaves the lock of another alone, where its directory was moved and made again', async () => {
    const moved = await FileLock.tryAcquire(path);
    renameSync(dirname(path), join(directory, 'moved'));
    const other = await FileLock.tryAcquire(path);
    moved?.release();
    moved?.release();
    expect(FileLock.isHeld(path)).toBe(true);
    expect(await FileLock.tryAcquire(path)).toBeNull();
    other?.release();
  });

  it('waits for those who only look', async () => {
    mkdirSync(dirname(path));
    const looking = openSync(path, 'a+');
    expect(tryLock(looking, { shared: true })).toBe(true);
    const taking = FileLock.tryAcquire(path);
    await sleep(30);
    closeSync(looking);
    (await taking)!.release();
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
