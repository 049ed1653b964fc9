import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { toFileName, hashOfName, type FileRef } from './file-ref.js';

/** The complete files in a directory by hash, with their sizes; none where it is not there. One that is removed meanwhile is left out. */
export async function filesIn(directory: string): Promise<FileRef[]> {
  const hashes = ((await unlessMissing(readdir(directory))) ?? []).sort().map(hashOfName);
  const found = hashes
    .filter((sha256) => sha256 !== null)
    .map(async (sha256) => ({ sha256, sizeBytes: await readSize(join(directory, toFileName(sha256))) }));
  return (await Promise.all(found)).flatMap(({ sha256, sizeBytes }) =>
    sizeBytes === null ? [] : [{ sha256, sizeBytes }],
  );
}

/** Null where there is none. */
export async function readSize(path: string): Promise<number | null> {
  return (await unlessMissing(stat(path)))?.size ?? null;
}

/** The content of a file; null for one that is larger, or is not there. */
export async function readUpTo(maxBytes: number, path: string): Promise<Uint8Array | null> {
  const sizeBytes = await readSize(path);
  return sizeBytes === null || sizeBytes > maxBytes ? null : unlessMissing(readFile(path));
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
