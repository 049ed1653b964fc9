import { readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { adoptEarlierFile, earlierPath } from './earlier-file.js';
import { bytesOf, SpoolDirectory } from './spool-directory.fixture.js';
import type { SpoolSettings } from './spool.js';

const ANYBODY: SpoolSettings = { sync: true, keeps: 'whole records' };

let directory: SpoolDirectory;
let path: string;
beforeEach(() => {
  directory = new SpoolDirectory();
  path = join(directory.path, 'lines.txt');
});
afterEach(() => {
  vi.restoreAllMocks();
  directory.remove();
});

const adopt = () =>
  adoptEarlierFile(directory.path, path, (contents) => contents.toString().split(' ').map(bytesOf));
const records = async () => (await directory.reopen(ANYBODY)).records;

describe('a file in an earlier format', () => {
  it('is the newest of the directory, each time that an earlier version wrote one', async () => {
    await adopt();
    await writeFile(path, 'one two');
    await adopt();
    await directory.write(['three'], { ...ANYBODY, segmentBytes: 1 });
    await writeFile(path, 'four');
    await adopt();
    await adopt();
    expect(await records()).toEqual(['one', 'two', 'three', 'four']);
    expect((await readdir(directory.path)).every((name) => name.endsWith('.spool'))).toBe(true);
  });

  it('comes once wherever a crash was, before one that an earlier version wrote after it', async () => {
    await writeFile(path, 'one');
    await adopt();
    await rename(directory.segment(1), `${path}.spool`);
    await writeFile(`${path}.taken`, 'one');
    await writeFile(path, 'two');
    expect(new Set((await readdir(directory.path)).map(earlierPath))).toEqual(new Set(['lines.txt']));
    await adopt();
    expect(await records()).toEqual(['one', 'two']);
    await rename(directory.segment(2), `${path}.spool`);
    await writeFile(path, 'three');
    await adopt();
    expect(await records()).toEqual(['one', 'two', 'three']);
  });

  it('is there for another try when the disk refuses its records', async () => {
    await writeFile(path, 'one');
    vi.spyOn(await directory.fileMethods(), 'datasync').mockRejectedValueOnce(new Error('ENOSPC'));
    await expect(adopt()).rejects.toThrow('ENOSPC');
    await adopt();
    expect(await records()).toEqual(['one']);
  });
});
