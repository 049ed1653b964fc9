import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Verdict } from './check.js';

const GIBIBYTE = 2 ** 30;
/** Log, store and checkpoints of a default run fit into this. */
const ADVISED_BYTES = 5 * GIBIBYTE;
const NEEDED_BYTES = 0.25 * GIBIBYTE;

/** Whether a disk has room for Retrace. */
export function verdictOnFreeSpace(freeBytes: number): Verdict {
  if (freeBytes >= ADVISED_BYTES) return 'ok';
  return freeBytes < NEEDED_BYTES ? 'fail' : 'warn';
}

/** Bytes as GiB with one decimal, without the unit. */
export function gibibytes(bytes: number): string {
  return (bytes / GIBIBYTE).toFixed(1);
}

/** Free bytes on the disk that a directory is on, or would be. */
export async function freeBytesAt(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(nearestExisting(resolve(directory)));
  return bavail * bsize;
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}
