import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PolicyError } from '../policy-error.js';

/** Writes one file from its content, or from the pieces of its content in order. */
type WriteFile = (name: string, content: string | AsyncIterable<Uint8Array>) => Promise<void>;

/**
 * Makes a directory that is complete or absent: its files are written under a temporary name, synced and renamed.
 *
 * @throws PolicyError `INVALID_REQUEST` when the directory has files, `CHECKPOINT_NOT_WRITTEN` (retriable) when the disk refuses; the unfinished directory is removed
 */
export async function writeDirectory(
  directory: string,
  write: (file: WriteFile) => Promise<void>,
): Promise<void> {
  const present = await readdir(directory).catch(() => []);
  if (present.length > 0) {
    throw new PolicyError(
      'INVALID_REQUEST',
      `${directory} has files in it; name a directory that does not exist`,
    );
  }
  const partial = `${directory}.${randomUUID()}.partial`;
  try {
    await mkdir(dirname(directory), { recursive: true });
    await mkdir(partial);
    await write((name, content) => writeFile(join(partial, name), content, { flag: 'wx', flush: true }));
    await rename(partial, directory);
  } catch (cause) {
    await rm(partial, { recursive: true, force: true });
    if (cause instanceof PolicyError) throw cause;
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new PolicyError('CHECKPOINT_NOT_WRITTEN', `${directory} could not be written (${reason})`, {
      cause,
      retriable: true,
    });
  }
}
