import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../cli-error.js';

const MEBIBYTE = 1024 ** 2;
/** With this much free space, log, store and checkpoints can still stop cleanly; with less they fail one after the other. */
const LEAST_FREE_BYTES = 48 * MEBIBYTE;

interface WatchedDirectory {
  readonly path: string;
  /** The path as the user gave it, for messages. */
  readonly shownAs: string;
}

/** @throws CliError `DISK_FULL` when there is too little free space to work safely */
export async function assertDiskSpace({ path, shownAs }: WatchedDirectory): Promise<void> {
  const { bavail, bsize } = await statfs(path);
  const freeBytes = bavail * bsize;
  if (freeBytes >= LEAST_FREE_BYTES) return;
  throw new CliError(
    'DISK_FULL',
    `data directory ${shownAs}: the disk is full (${(freeBytes / MEBIBYTE).toFixed(0)} MiB free, at least ` +
      `${LEAST_FREE_BYTES / MEBIBYTE} are needed); free some space and start again; no acknowledged event is lost`,
    { retriable: true },
  );
}

/**
 * Checks the disk every `everyMs`; resolves when `signal` aborts.
 *
 * @throws CliError `DISK_FULL` once there is too little free space
 */
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
