import { closeSync, fstatSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock, unlock, waitForLockSync } from 'fs-native-extensions';

/** Longest pause before those are looked at again who only look themselves. */
const LOOK_AGAIN_MS = 10;
/** After so many, some 5 s, whoever looks was stopped while it did, and counts as a holder. */
const MOST_LOOKS = 1000;

/**
 * A lock on a file that the system holds for all who have its descriptor (open file description locks of Linux, `flock` of macOS): the process that
 * took it and the children that inherited it. It is free when the last of them has ended, however that ended, so there are no process ids (which are
 * reused), no timeouts, and nothing to clean up after a kill. The file must be on a disk that has such locks.
 */
export class FileLock {
  private isReleased = false;

  private constructor(
    /** To pass on to children through `stdio`; they need not do anything with it. */
    readonly fileDescriptor: number,
    private readonly path: string,
    private readonly isShared: boolean,
  ) {}

  /** Takes the lock, with the directories of its file; null where another has it, in this process or another. */
  static async tryAcquire(path: string): Promise<FileLock | null> {
    for (let i = 0; i < MOST_LOOKS; i++) {
      const fileDescriptor = openLockFile(path);
      if (tryLock(fileDescriptor)) {
        if (isAt(fileDescriptor, path)) return new FileLock(fileDescriptor, path, false);
        // Who had it has removed the file since it was opened.
        closeSync(fileDescriptor);
        continue;
      }
      const isHeld = !tryLock(fileDescriptor, { shared: true }) && isAt(fileDescriptor, path);
      closeSync(fileDescriptor);
      if (isHeld) return null;
      // Nobody has it: others look at it, or try to take it as this does.
      await sleep(Math.random() * LOOK_AGAIN_MS);
    }
    return null;
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

  /** Gives it back; may be called twice. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    // Before it is free, so that nobody takes the lock on a file that is gone; never another's, which may be there since the directory was moved.
    if (!this.isShared && isAt(this.fileDescriptor, this.path)) rmSync(this.path, { force: true });
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
    // An exclusive lock needs a file that is open for writing.
    fileDescriptor = openSync(path, options.shared ? 'r' : 'r+');
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
