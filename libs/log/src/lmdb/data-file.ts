import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { LogError } from '../log-error.js';

/** LMDB's mark, little-endian, after the 24 bytes of a page's header. */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;

/** Both meta pages, at the smallest page size. */
const MIN_FILE_BYTES = 2 * 4096;

/**
 * Refuses a data file that LMDB did not write: the driver does not check, it crashes the process.
 *
 * @throws LogError `LOG_CORRUPT`
 */
export function assertLmdbDataFile(directory: string): void {
  const file = join(directory, 'data.mdb');
  if (!existsSync(file)) return;
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    // What a process leaves that was killed while it made the file; LMDB starts it afresh.
    if (size === 0) return;
    const header = Buffer.alloc(MAGIC_AT + 4);
    readSync(descriptor, header, 0, header.length, 0);
    if (size < MIN_FILE_BYTES || header.readUInt32LE(MAGIC_AT) !== MAGIC) {
      const message = `${file} is no LMDB data file or is cut off (${size} bytes); restore it or move the directory away`;
      throw new LogError('LOG_CORRUPT', message);
    }
  } finally {
    closeSync(descriptor);
  }
}
