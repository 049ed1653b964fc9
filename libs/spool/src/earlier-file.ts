import { readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from './files.js';
import { adoptSegment } from './segment-file.js';
import { Segment } from './segment.js';

/** Name of a file in an earlier format from when it is converted, so that one that is written later is not taken for it. */
const TAKEN = '.taken';
const CONVERTED = '.spool';

/** The path of the file in an earlier format that a path belongs to, also when a crash left it half converted. */
export function earlierPath(path: string): string {
  const ending = [TAKEN, CONVERTED].find((each) => path.endsWith(each)) ?? '';
  return path.slice(0, path.length - ending.length);
}

/**
 * Makes a file in an earlier format the newest one of a spool directory; where there is none, does nothing. Also one that an earlier
 * version wrote after the first was converted: its records come after those that are there.
 *
 * A crash leaves the file, or one of those between, which the next call goes on with.
 */
export async function adoptEarlierFile(
  directory: string,
  path: string,
  recordsOf: (contents: Buffer) => readonly Uint8Array[],
): Promise<void> {
  await finish(directory, path, recordsOf);
  if ((await unlessMissing(rename(path, path + TAKEN).then(() => true))) !== null) {
    await finish(directory, path, recordsOf);
  }
}

async function finish(
  directory: string,
  path: string,
  recordsOf: (contents: Buffer) => readonly Uint8Array[],
): Promise<void> {
  const contents = await unlessMissing(readFile(path + TAKEN));
  if (contents !== null) {
    const segment = new Segment({ path: path + CONVERTED, number: 0, isSnapshot: false });
    await segment.createWhole(recordsOf(contents));
    await segment.close();
    await rm(path + TAKEN);
    await syncDirectory(dirname(path));
  }
  await adoptSegment(directory, path + CONVERTED);
}

/** Null for a file that is not there. */
function unlessMissing<Result>(work: Promise<Result>): Promise<Result | null> {
  return work.catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  });
}
