import { open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { ComputeError } from '../compute-error.js';

interface LockOwner {
  readonly pid: number;
  readonly host: string;
}

export interface LockOptions {
  readonly signal?: AbortSignal;
  /** Called while another process holds the lock, with its process id. */
  readonly onWait?: (pid: number) => void;
  /** Interval at which the holder renews the lock, and the longest at which a waiter looks. */
  readonly heartbeatMs?: number;
}

/** A holder that has missed this many heartbeats counts as dead. */
const MISSED_HEARTBEATS = 12;

/**
 * Runs `work` while only this process holds the lock file; waits for other processes. Takes over the lock
 * of a process that died, on this machine or another one that shares the directory.
 *
 * @throws ComputeError `BACKEND_INSTALL_FAILED` when cancelled while waiting; whatever `work` throws.
 */
export async function withInstallLock<T>(
  path: string,
  { signal, onWait, heartbeatMs = 5000 }: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  while (!(await tryAcquire(path))) {
    const owner = await readOwner(path);
    if (await isDead(path, owner, heartbeatMs)) {
      await breakLock(path, owner);
      continue;
    }
    if (owner !== null) onWait?.(owner.pid);
    await sleep(Math.min(heartbeatMs, 500), undefined, { signal }).catch(() => undefined);
    if (signal?.aborted === true) {
      throw new ComputeError('BACKEND_INSTALL_FAILED', 'The installation was cancelled.', {
        retriable: true,
      });
    }
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    // The next heartbeat tries again, and a missed one is harmless.
    utimes(path, now, now).catch(() => undefined);
  }, heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await rm(path, { force: true });
  }
}

async function tryAcquire(path: string): Promise<boolean> {
  try {
    const handle = await open(path, 'wx');
    const owner: LockOwner = { pid: process.pid, host: hostname() };
    await handle.writeFile(JSON.stringify(owner));
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readOwner(path: string): Promise<LockOwner | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as LockOwner;
  } catch {
    return null;
  }
}

async function isDead(path: string, owner: LockOwner | null, heartbeatMs: number): Promise<boolean> {
  if (owner?.host === hostname() && !isAlive(owner.pid)) return true;
  const stats = await stat(path).catch(() => null);
  return stats !== null && Date.now() - stats.mtimeMs > MISSED_HEARTBEATS * heartbeatMs;
}

/** Renames the lock before removing it: of several waiters that see the same dead owner, one succeeds. */
async function breakLock(path: string, owner: LockOwner | null): Promise<void> {
  const aside = `${path}.broken-${process.pid}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  const taken = await readOwner(aside);
  // A slow waiter may have renamed the next owner's lock, which is put back.
  if (taken !== null && (taken.pid !== owner?.pid || taken.host !== owner.host)) await rename(aside, path);
  else await rm(aside, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
