import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../cli-error.js';

const HELD_SUFFIX = '.held';
const CLAIM_SUFFIX = '.claim';
const NEW_SUFFIX = '.new';
const SHARED_SUFFIX = '.shared';
/** A crash can leave a FIFO that was never claimed. After this time no process can be about to claim it. */
const ABANDONED_AFTER_MS = 60_000;

/** States that a claim may meet, the worse the later: `claimed` by others whose ids are larger, who give way; `outranked` by one whose id is smaller. */
const OCCUPANCIES = ['free', 'claimed', 'outranked', 'held'] as const;

type Occupancy = (typeof OCCUPANCIES)[number];

/** Pause between two looks at claims that give way. */
const LOOK_AGAIN_MS = 10;

interface LockOptions {
  /** How long to wait for a holder that will end soon: a short command, or children of a killed server. */
  readonly waitMs: number;
  /** Called before each wait; may throw to give up. */
  readonly onWait?: () => void;
  /** The directory as the user gave it, for messages. */
  readonly shownAs: string;
}

/**
 * Exclusive lock on a data directory, held as long as any process that inherited `fileDescriptor` lives.
 *
 * The holder keeps the reading end of a FIFO open. Opening such a FIFO for writing without blocking fails with ENXIO
 * exactly when no process reads it, so the kernel tells whether the holder lives. That needs no process ids (which are reused), no
 * timeouts and no cleaning up after a kill, and children that outlive a killed supervisor still count. A process makes its claim
 * visible *before* it looks for others, so of two processes that claim at once at least one sees the other. The one with the larger id gives
 * way, and the other keeps its claim until it is alone: so one of several always gets the lock, however slow the machine is.
 */
export class DataDirectoryLock {
  private constructor(
    /** To pass on to children through `stdio`; they need not do anything with it. */
    readonly fileDescriptor: number,
    private readonly path: string,
  ) {}

  /** @throws CliError `DATA_DIRECTORY_IN_USE` when another process still holds the directory after `waitMs` */
  static async acquire(directory: string, options: LockOptions): Promise<DataDirectoryLock> {
    const deadlineMs = performance.now() + options.waitMs;
    for (;;) {
      const claim = DataDirectoryLock.claim(directory);
      let others = claim.look();
      while (others === 'claimed' && performance.now() < deadlineMs) {
        await sleep(LOOK_AGAIN_MS);
        others = claim.look();
      }
      if (others === 'free') return claim.hold();
      claim.release();
      if (performance.now() >= deadlineMs) throw inUse(options.shownAs);
      if (others === 'held') options.onWait?.();
      await sleep(20 + Math.random() * 130);
    }
  }

  /** Whether a live process holds the directory. */
  static isHeld(directory: string): boolean {
    return occupancy(directory, null) === 'held';
  }

  /** Takes a lock that any number of processes have at the same time, and that keeps nobody from the exclusive one. */
  static share(directory: string): DataDirectoryLock {
    const id = randomUUID();
    const path = join(directory, id + SHARED_SUFFIX);
    return new DataDirectoryLock(openReadingFifo(directory, id, SHARED_SUFFIX), path);
  }

  /** Whether a live process has a shared lock. */
  static isShared(directory: string): boolean {
    return listDirectory(directory)
      .filter((name) => name.endsWith(SHARED_SUFFIX))
      .map((name) => join(directory, name))
      .some((path) => {
        const isAlive = hasReader(path);
        if (!isAlive) rmSync(path, { force: true });
        return isAlive;
      });
  }

  release(): void {
    rmSync(this.path, { force: true });
    closeSync(this.fileDescriptor);
  }

  private static claim(directory: string): {
    look(): Occupancy;
    hold(): DataDirectoryLock;
    release(): void;
  } {
    const id = randomUUID();
    const claimPath = join(directory, id + CLAIM_SUFFIX);
    const fileDescriptor = openReadingFifo(directory, id, CLAIM_SUFFIX);
    return {
      look: () => occupancy(directory, id),
      hold: () => {
        const heldPath = join(directory, id + HELD_SUFFIX);
        // Link first, then remove: another process that lists the directory during a rename could miss both names.
        linkSync(claimPath, heldPath);
        rmSync(claimPath);
        return new DataDirectoryLock(fileDescriptor, heldPath);
      },
      release: () => {
        rmSync(claimPath, { force: true });
        closeSync(fileDescriptor);
      },
    };
  }
}

/** Creates a FIFO, opens its reading end, and only then gives it the name that other processes look for. */
function openReadingFifo(directory: string, id: string, suffix: string): number {
  const temporaryPath = join(directory, id + NEW_SUFFIX);
  // Who releases a lock may remove its directory until something is in it.
  do mkdirSync(directory, { recursive: true, mode: 0o700 });
  while (!makeFifo(temporaryPath));
  const fileDescriptor = openSync(temporaryPath, constants.O_RDONLY | constants.O_NONBLOCK);
  renameSync(temporaryPath, join(directory, id + suffix));
  return fileDescriptor;
}

/** Creates a FIFO; false where its directory is not there. */
function makeFifo(path: string): boolean {
  try {
    const env = { ...process.env, LC_ALL: 'C' };
    execFileSync('mkfifo', ['-m', '600', path], { stdio: ['ignore', 'ignore', 'pipe'], env });
    return true;
  } catch (cause) {
    const { stderr } = cause as { readonly stderr: Buffer | null };
    if (stderr?.includes('No such file or directory') === true) return false;
    throw new CliError(
      'DATA_DIRECTORY_UNUSABLE',
      `data directory lock: cannot create a FIFO at ${path}; use --data-dir to choose a directory on a local disk of a Unix system with free space`,
      { cause },
    );
  }
}

function occupancy(directory: string, ownId: string | null): Occupancy {
  let worst = 0;
  for (const name of listDirectory(directory)) {
    const path = join(directory, name);
    if (name.endsWith(NEW_SUFFIX)) removeIfAbandoned(path);
    const isHeld = name.endsWith(HELD_SUFFIX);
    if ((!isHeld && !name.endsWith(CLAIM_SUFFIX)) || (ownId !== null && name.startsWith(ownId))) continue;
    if (!hasReader(path)) rmSync(path, { force: true });
    else {
      const one = isHeld ? 'held' : ownId !== null && name > ownId ? 'claimed' : 'outranked';
      worst = Math.max(worst, OCCUPANCIES.indexOf(one));
    }
  }
  return OCCUPANCIES[worst];
}

function listDirectory(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Whether a process reads the FIFO. If it is gone since it was listed, a claim has become a hold (live), and a hold was released. */
function hasReader(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENXIO') return false;
    if (code === 'ENOENT') return path.endsWith(CLAIM_SUFFIX);
    throw error;
  }
}

function removeIfAbandoned(path: string): void {
  try {
    if (Date.now() - statSync(path).mtimeMs > ABANDONED_AFTER_MS) rmSync(path, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function inUse(shownAs: string): CliError {
  return new CliError(
    'DATA_DIRECTORY_IN_USE',
    `data directory ${shownAs}: in use by another process; wait for it or stop it, or choose another with --data-dir`,
    { retriable: true },
  );
}
