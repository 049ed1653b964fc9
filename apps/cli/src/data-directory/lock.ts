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

const heldSuffix = '.held';
const claimSuffix = '.claim';
const newSuffix = '.new';
/** A crash may leave a FIFO that was never claimed; after this long nobody can still be about to claim it. */
const abandonedAfterMs = 60_000;

type Occupancy = 'free' | 'claimed' | 'held';

export interface LockOptions {
  /** How long to wait for a holder that is about to go: a short command, or children of a killed server. */
  readonly waitMs: number;
  /** Called before each further wait; throws to give up at once. */
  readonly onWait?: () => void;
  /** Directory as the person at the terminal knows it, for messages. */
  readonly shownAs: string;
}

/**
 * Exclusive hold on a data directory, for as long as any process that inherited `fileDescriptor` lives.
 *
 * The holder keeps the reading end of a FIFO open. Opening such a FIFO for writing without blocking fails with ENXIO
 * exactly when no process reads it, so the kernel says who lives: no process ids (which are reused), no timeouts, nothing
 * to clean up after a kill, and children that outlive a killed supervisor still count. A claim is made visible *before*
 * the others are looked at; so of two that claim at once at least one sees the other and steps back.
 */
export class DataDirectoryLock {
  private constructor(
    /** Pass it to children through `stdio`; it needs no care there. */
    readonly fileDescriptor: number,
    private readonly path: string,
  ) {}

  /** @throws CliError `DATA_DIRECTORY_IN_USE` when another process still holds it after `waitMs`. */
  static async acquire(directory: string, options: LockOptions): Promise<DataDirectoryLock> {
    const deadline = Date.now() + options.waitMs;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (;;) {
      const claim = DataDirectoryLock.claim(directory);
      if (claim.others === 'free') return claim.hold();
      claim.release();
      if (Date.now() >= deadline) throw inUse(options.shownAs);
      if (claim.others === 'held') options.onWait?.();
      await sleep(20 + Math.random() * 130);
    }
  }

  /** Whether some live process holds the directory. */
  static isHeld(directory: string): boolean {
    return occupancy(directory, null) === 'held';
  }

  release(): void {
    rmSync(this.path, { force: true });
    closeSync(this.fileDescriptor);
  }

  private static claim(directory: string): { others: Occupancy; hold(): DataDirectoryLock; release(): void } {
    const id = randomUUID();
    const claimPath = join(directory, id + claimSuffix);
    const fileDescriptor = openReadingFifo(join(directory, id + newSuffix), claimPath);
    return {
      others: occupancy(directory, id),
      hold: () => {
        const heldPath = join(directory, id + heldSuffix);
        // Link, then remove: a rename could slip past somebody who lists the directory at this moment.
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

/** Makes a FIFO, opens its reading end, and only then gives it the name under which others look for it. */
function openReadingFifo(temporaryPath: string, finalPath: string): number {
  try {
    execFileSync('mkfifo', ['-m', '600', temporaryPath], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (cause) {
    throw new CliError(
      'DATA_DIRECTORY_UNUSABLE',
      `data directory lock: a FIFO can't be made at ${temporaryPath}; choose a data directory on a local disk of a Unix system, with free space, with --data-dir`,
      { cause },
    );
  }
  const fileDescriptor = openSync(temporaryPath, constants.O_RDONLY | constants.O_NONBLOCK);
  renameSync(temporaryPath, finalPath);
  return fileDescriptor;
}

function occupancy(directory: string, ownId: string | null): Occupancy {
  let result: Occupancy = 'free';
  for (const name of listDirectory(directory)) {
    const path = join(directory, name);
    if (name.endsWith(newSuffix)) removeIfAbandoned(path);
    const isHeld = name.endsWith(heldSuffix);
    if ((!isHeld && !name.endsWith(claimSuffix)) || (ownId !== null && name.startsWith(ownId))) continue;
    if (!hasReader(path)) rmSync(path, { force: true });
    else if (isHeld || result === 'free') result = isHeld ? 'held' : 'claimed';
  }
  return result;
}

function listDirectory(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** ENOENT: released, or renamed from claim to hold, since it was listed; a rename counts as live. */
function hasReader(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENXIO') return false;
    if (code === 'ENOENT') return path.endsWith(claimSuffix);
    throw error;
  }
}

function removeIfAbandoned(path: string): void {
  try {
    if (Date.now() - statSync(path).mtimeMs > abandonedAfterMs) rmSync(path, { force: true });
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
