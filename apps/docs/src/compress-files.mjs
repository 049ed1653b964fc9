import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const COMPRESSIBLE = /\.(css|html|js)$/;
/** A smaller file fits into few packets as it is, and a second file for each would double the number of files. */
const MIN_BYTES = 40_000;

/**
 * Writes a `.gz` beside each large text file of a directory, which the API serves to clients that accept it.
 *
 * @param {string} directory
 */
export async function compressFiles(directory) {
  const files = await readdir(directory, { recursive: true });
  for (const file of files.filter((each) => COMPRESSIBLE.test(each))) {
    const path = join(directory, file);
    const text = await readFile(path);
    if (text.length >= MIN_BYTES) await writeFile(`${path}.gz`, await promisify(gzip)(text));
  }
}
