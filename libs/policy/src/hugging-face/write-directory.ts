import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PolicyError } from '../policy-error.js';

/** Writes one file, from its content or from its pieces in order. */
export type WriteFile = (
  name: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
) => Promise<void>;

/**
 * Makes a directory that is complete or absent: it is written aside, synced and renamed.
 *
 * @throws PolicyError `INVALID_REQUEST` when something is there already, `CHECKPOINT_NOT_WRITTEN` (retriable) when the disk refuses; nothing is left behind then
 */
export async function writeDirectory(
  directory: string,
  write: (file: WriteFile) => Promise<void>,
): Promise<void> {
  const present = await readdir(directory).catch(() => []);
  if (present.length > 0) {
    throw new PolicyError(
      'INVALID_REQUEST',
      `${directory} has files in it; name a directory that is not there`,
    );
  }
  const partial = `${directory}.${randomUUID()}.partial`;
  try {
    await mkdir(dirname(directory), { recursive: true });
    await mkdir(partial);
    await write((name, content) => writeSynced(join(partial, name), content));
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

async function writeSynced(
  path: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await writeFile(file, content);
    await file.sync();
  } finally {
    await file.close();
  }
}
