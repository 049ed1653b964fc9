import { copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from './files.js';

const NAME = /^(\d{10})\.(spool|snapshot)$/;

/** A file of a spool directory. */
export interface SegmentFile {
  readonly path: string;
  readonly number: number;
  /** Whether it stands for all files with lower numbers too. */
  readonly isSnapshot: boolean;
}

export function segmentFile(directory: string, number: number, isSnapshot = false): SegmentFile {
  const name = `${`${number}`.padStart(10, '0')}.${isSnapshot ? 'snapshot' : 'spool'}`;
  return { path: join(directory, name), number, isSnapshot };
}

/** Returns the files of a directory from the last snapshot on; removes earlier ones, and those that were never finished. */
export async function currentFiles(directory: string): Promise<readonly SegmentFile[]> {
  for (const name of await readdir(directory)) {
    if (name.endsWith('.new')) await rm(join(directory, name), { recursive: true });
  }
  const files = await allFiles(directory);
  const last = files.findLastIndex(({ isSnapshot }) => isSnapshot);
  const first = Math.max(0, last);
  for (const { path } of files.slice(0, first)) await rm(path);
  return files.slice(first);
}

/** Makes a file that is a segment but for its name the newest one of a directory, in one step; where there is none, does nothing. */
export async function adoptSegment(directory: string, path: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const number = ((await allFiles(directory)).at(-1)?.number ?? 0) + 1;
  await rename(path, segmentFile(directory, number).path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  });
}

/** Copies a file under a name that no spool reads, and waits for the disk. */
export async function copyAside(directory: string, path: string): Promise<void> {
  const copy = await asidePath(path);
  await copyFile(path, copy);
  const handle = await open(copy, 'r+');
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await syncDirectory(directory);
}

/** Gives the files with higher numbers names that no spool reads, the newest first. @returns their bytes */
export async function setLaterAside(directory: string, number: number): Promise<number> {
  let numBytes = 0;
  for (const file of (await allFiles(directory)).reverse()) {
    if (file.number <= number) continue;
    numBytes += (await stat(file.path)).size;
    await rename(file.path, await asidePath(file.path));
  }
  return numBytes;
}

/** A file with the same number that is damaged later gets another name. */
async function asidePath(path: string): Promise<string> {
  return `${path}.${Math.floor((await stat(path)).mtimeMs)}.damaged`;
}

/** The files in the order of their numbers. */
async function allFiles(directory: string): Promise<SegmentFile[]> {
  const files = (await readdir(directory)).flatMap((name) => {
    const [, digits, ending] = NAME.exec(name) ?? [];
    return digits === undefined ? [] : segmentFile(directory, Number(digits), ending === 'snapshot');
  });
  return files.sort((a, b) => a.number - b.number);
}
