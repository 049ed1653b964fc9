import { closeSync, fstatSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock, unlock, waitForLockSync } from 'fs-native-extensions';

/** Longest pause before somebody is looked at again who only looks himself. */
const LOOK_AGAIN_MS = 10;

/**
 * A lock on a file that the system holds for all who have its descriptor (open file description locks of Linux, `flock` of macOS): the process that
 * took it and the children that inherited it. It is free when the last of them has ended, however that ended, so there are no process ids (which are
 * reused), no timeouts, and nothing to clean up after a kill. The file must be on a disk that has such locks.
 */
export class FileLock {
  private constructor(
    /** To pass on to children through `stdio`; they need not do anything with it. */
    readonly fileDescriptor: number,
    private readonly path: string,
    private readonly isShared: boolean,
  ) {}

  /** Takes the lock, with the directories of its file; null where another has it, in this process or another. */
  static async tryAcquire(path: string): Promise<FileLock | null> {
    for (;;) {
      const fileDescriptor = openLockFile(path);
      if (tryLock(fileDescriptor)) {
        if (isAt(fileDescriptor, path)) return new FileLock(fileDescriptor, path, false);
        // Who had it has removed the file since it was opened.
        closeSync(fileDescriptor);
        continue;
      }
      const isHeld = !tryLock(fileDescriptor, { shared: true });
      closeSync(fileDescriptor);
      if (isHeld) return null;
      // Nobody has it: others look at it, or try to take it as this does.
      await sleep(Math.random() * LOOK_AGAIN_MS);
    }
  }

  /** Whether somebody has the lock. */
  static isHeld(path: string): boolean {
    return isRefused(path, { shared: true });
  }

  /** Takes a lock that any number may have at once. The file must be no other lock's. */
  static share(path: string): FileLock {
    const fileDescriptor = openLockFile(path);
    // Only those who look have it for themselves, and not for long.
    waitForLockSync(fileDescriptor, { shared: true });
    return new FileLock(fileDescriptor, path, true);
  }

  /** Whether somebody has the lock that many may have. */
  static isShared(path: string): boolean {
    return isRefused(path, { shared: false });
  }

  release(): void {
    // Before it is free, so that nobody takes the lock on a file that is gone.
    if (!this.isShared) rmSync(this.path, { force: true });
    closeSync(this.fileDescriptor);
  }
}

function openLockFile(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openSync(path, 'a+', 0o600);
}

/** Whether a lock is refused because of others; it is given back at once. */
function isRefused(path: string, options: { readonly shared: boolean }): boolean {
  let fileDescriptor: number;
  try {
    fileDescriptor = openSync(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  try {
    if (!tryLock(fileDescriptor, options)) return true;
    unlock(fileDescriptor);
    return false;
  } finally {
    closeSync(fileDescriptor);
  }
}

/** Whether the open file is the one at the path. */
function isAt(fileDescriptor: number, path: string): boolean {
  const there = statSync(path, { bigint: true, throwIfNoEntry: false });
  const opened = fstatSync(fileDescriptor, { bigint: true });
  return there?.ino === opened.ino && there.dev === opened.dev;
}
