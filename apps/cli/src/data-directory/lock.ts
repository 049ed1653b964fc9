import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataDirectory } from '@retrace/process';
import { FileLock } from '@retrace/spool/file-lock';
import { CliError } from '../cli-error.js';

interface LockOptions {
  /** How long to wait for a holder that will end soon: a short command, or children of a killed server. */
  readonly waitMs: number;
  /** Called before each wait; may throw to give up. */
  readonly onWait?: () => void;
  /** The directory as the user gave it, for messages. */
  readonly shownAs: string;
}

/**
 * Takes a lock on a data directory, or on a part of it, for as long as a process lives that has its descriptor.
 *
 * @throws CliError `DATA_DIRECTORY_IN_USE` when another process still has it after `waitMs`; `DATA_DIRECTORY_UNUSABLE` where its file can't be opened or locked
 */
export async function acquireLock(path: string, { waitMs, onWait, shownAs }: LockOptions): Promise<FileLock> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const lock = await FileLock.tryAcquire(path).catch((cause: unknown) => {
      throw unusable(path, cause);
    });
    if (lock !== null) return lock;
    if (performance.now() >= deadlineMs) throw inUse(shownAs);
    onWait?.();
    await sleep(20 + Math.random() * 130);
  }
}

/**
 * Whether somebody has a lock on a data directory, or on a part of it.
 *
 * @throws CliError `DATA_DIRECTORY_UNUSABLE` where its file can't be opened
 */
export function isLocked(path: string): boolean {
  return asked(path, () => FileLock.isHeld(path));
}

/**
 * Whether somebody has the lock that many may have.
 *
 * @throws CliError `DATA_DIRECTORY_UNUSABLE` where its file can't be opened
 */
export function isShared(path: string): boolean {
  return asked(path, () => FileLock.isShared(path));
}

/** The locks of a data directory. */
export function lockFiles({ root }: Pick<DataDirectory, 'root'>) {
  const lockDirectory = join(root, 'lock');
  return {
    /** Of the process tree that has the data directory. */
    held: join(lockDirectory, 'held'),
    /** Shared by commands that joined it. */
    joined: join(lockDirectory, 'joined'),
    /** Of the process tree that trains a recipe, with who that is as its content. */
    recipe: (hash: string) => join(lockDirectory, `recipe-${hash}.json`),
  };
}

function asked(path: string, ask: () => boolean): boolean {
  try {
    return ask();
  } catch (cause) {
    throw unusable(path, cause);
  }
}

function inUse(shownAs: string): CliError {
  return new CliError(
    'DATA_DIRECTORY_IN_USE',
    `data directory ${shownAs}: in use by another process; wait for it or stop it, or choose another with --data-dir`,
    { retriable: true },
  );
}

function unusable(path: string, cause: unknown): CliError {
  const { code = 'unknown' } = cause as NodeJS.ErrnoException;
  return new CliError(
    'DATA_DIRECTORY_UNUSABLE',
    `data directory lock: cannot lock ${path} (${code}); use --data-dir to choose a directory of your own on a local disk with free space`,
    { cause },
  );
}
