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
