import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { LogError } from '../log-error.js';

/** LMDB's magic number, little-endian, after the 24 bytes of a page's header. */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;

/** Two meta pages of the smallest page size. */
const MIN_FILE_BYTES = 2 * 4096;

/**
 * Refuses a data file that LMDB did not write; the driver doesn't check it and would crash the process.
 *
 * @throws LogError `LOG_CORRUPT`
 */
export function assertLmdbDataFile(directory: string): void {
  const file = join(directory, 'data.mdb');
  if (!existsSync(file)) return;
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    // A process that was killed while it created the file leaves an empty one, which LMDB accepts.
    if (size === 0) return;
    const header = Buffer.alloc(MAGIC_AT + 4);
    readSync(descriptor, header, 0, header.length, 0);
    if (size < MIN_FILE_BYTES || header.readUInt32LE(MAGIC_AT) !== MAGIC) {
      const message = `${file} is not an LMDB data file, or is truncated (${size} bytes); restore it, or move the directory away`;
      throw new LogError('LOG_CORRUPT', message);
    }
  } finally {
    closeSync(descriptor);
  }
}
