import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../cli-error.js';

/** Log, store and checkpoints stop cleanly while there is still some room; below this they fail one after the other. */
const leastFreeBytes = 48 * 1024 ** 2;
const mebibyte = 1024 ** 2;

export interface WatchedDirectory {
  readonly path: string;
  /** As the person at the terminal knows it, for messages. */
  readonly shownAs: string;
}

/** @throws CliError `DISK_FULL` when too little is free to work safely. */
export async function assertDiskSpace({ path, shownAs }: WatchedDirectory): Promise<void> {
  const { bavail, bsize } = await statfs(path);
  const freeBytes = bavail * bsize;
  if (freeBytes >= leastFreeBytes) return;
  throw new CliError(
    'DISK_FULL',
    `data directory ${shownAs}: the disk is full (${(freeBytes / mebibyte).toFixed(0)} MiB free, at least ` +
      `${String(leastFreeBytes / mebibyte)} are needed); free some space and start again, nothing that was acknowledged is lost`,
    { retriable: true },
  );
}

/** Rejects as `assertDiskSpace` does, once that is so; resolves when `signal` aborts. */
export async function watchDisk(
  directory: WatchedDirectory,
  signal: AbortSignal,
  everyMs = 1000,
): Promise<void> {
  while (!signal.aborted) {
    await assertDiskSpace(directory);
    await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
