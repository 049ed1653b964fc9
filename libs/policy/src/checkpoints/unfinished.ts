import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileRef } from './file-ref.js';
import { shardsIn } from './shards.js';

const SUFFIX = '.partial';
/** Of a file, or of one in an unfinished directory. */
const NAME = /^[0-9a-f-]{36}\.partial(\/[\w-]+\.safetensors)?$/;
/** In an unfinished directory: the index that its shards will have. */
const INTENDED_INDEX = 'index';

/** Age at which what a writer that died left unfinished is removed. */
const ABANDONED_AFTER_MS = 3_600_000;

/** A temporary name of a file, or of a directory in which other processes write files. */
export const unfinishedName = (): string => `${randomUUID()}${SUFFIX}`;

export const isUnfinishedName = (name: string): boolean => NAME.test(name);

/** Notes in an unfinished directory which index its shards will have, so that they are found where their writer dies before it writes the index. */
export function intendIndex(directory: string, content: Uint8Array): Promise<void> {
  return writeFile(join(directory, INTENDED_INDEX), content, { flush: true });
}

/**
 * Removes what writers that died left unfinished in a directory. What can't be looked at or removed stays for the next time, and is no error: whoever
 * comes here writes something else.
 *
 * @param removeShards removes those that a writer may have given names but no index, where no other index lists them
 */
export async function removeAbandoned(
  directory: string,
  removeShards: (shards: readonly FileRef[]) => Promise<void>,
): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter((name) => name.endsWith(SUFFIX))) {
    const path = join(directory, name);
    try {
      const { mtimeMs } = await stat(path);
      if (Date.now() - mtimeMs <= ABANDONED_AFTER_MS) continue;
      await removeShards(await intendedShards(path));
      await rm(path, { force: true, recursive: true });
    } catch {
      continue;
    }
  }
}

async function intendedShards(unfinished: string): Promise<readonly FileRef[]> {
  const path = join(unfinished, INTENDED_INDEX);
  const content = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    // It is a file, or its writer had not come so far.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  return content === null ? [] : shardsIn(content, path);
}
