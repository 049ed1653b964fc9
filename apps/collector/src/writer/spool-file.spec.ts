import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SpoolFile } from './spool-file.js';

const LOG_ID = '01890000-0000-7000-8000-000000000000';
const OTHER_LOG_ID = '01890000-0000-7000-8000-000000000001';
const record = (text: string): Uint8Array => Buffer.from(text);
const texts = (records: readonly Uint8Array[]): string[] =>
  records.map((bytes) => Buffer.from(bytes).toString());

describe('SpoolFile', () => {
  let directory: string;
  let path: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'spool-'));
    path = join(directory, 'a', '0.spool');
  });
  afterEach(() => rm(directory, { recursive: true }));

  /** A file with these records, closed. */
  async function write(...all: string[]): Promise<void> {
    const spool = await SpoolFile.open(path, LOG_ID);
    await spool.append(all.map(record));
    await spool.close();
  }

  /** What the file holds by a new open. */
  async function reopen(): Promise<{ records: string[]; numCutBytes: number }> {
    const spool = await SpoolFile.open(path, LOG_ID);
    const records = spool.numRecords > 0 ? texts(await spool.peek(1e6)) : [];
    await spool.close();
    return { records, numCutBytes: spool.numCutBytes };
  }

  it('gives records back in order, also by another process, until they are taken', async () => {
    const spool = await SpoolFile.open(path, LOG_ID);
    await spool.append([record('one'), record('')]);
    await spool.append([record('three')]);
    expect(texts(await spool.peek(1))).toEqual(['one']);
    await spool.take(1);
    expect(texts(await spool.peek(5))).toEqual(['', 'three']);
    await spool.close();
    expect(await reopen()).toEqual({ records: ['one', '', 'three'], numCutBytes: 0 });
  });

  it('gives its disk space back once everything is taken', async () => {
    const spool = await SpoolFile.open(path, LOG_ID);
    const emptyBytes = spool.sizeBytes;
    await spool.append([record('one'), record('two')]);
    await spool.take(2);
    expect(spool.sizeBytes).toBe(emptyBytes);
    await spool.append([record('three')]);
    await spool.close();
    expect(await reopen()).toEqual({ records: ['three'], numCutBytes: 0 });
  });

  it('keeps the whole records before a tail that is cut anywhere', async () => {
    await write('one', 'two');
    const whole = await readFile(path);
    const ends = [whole.length - 22, whole.length - 11, whole.length];
    for (let length = 0; length <= whole.length; length++) {
      await writeFile(path, whole.subarray(0, length));
      const numWhole = ends.filter((end) => end <= length).length - 1;
      const { records } = await reopen();
      expect(records).toEqual(['one', 'two'].slice(0, Math.max(0, numWhole)));
    }
  });

  it('keeps only what lies before a changed byte, wherever that is', async () => {
    await write('one', 'two', 'three');
    const whole = await readFile(path);
    const firstAt = 8 + 36;
    for (let at = firstAt; at < whole.length; at++) {
      const damaged = Buffer.from(whole);
      damaged[at] ^= 0x10;
      await writeFile(path, damaged);
      const numBefore = at < firstAt + 11 ? 0 : at < firstAt + 22 ? 1 : 2;
      const { records, numCutBytes } = await reopen();
      expect(records).toEqual(['one', 'two', 'three'].slice(0, numBefore));
      expect(numCutBytes).toBe(whole.length - firstAt - 11 * numBefore);
    }
  });

  it('takes more records after a damaged tail was cut off', async () => {
    await write('one', 'two');
    await appendFile(path, 'half a rec');
    await write('three');
    expect(await reopen()).toEqual({ records: ['one', 'two', 'three'], numCutBytes: 0 });
  });

  it('refuses records of another log, naming both, and files that are no spool', async () => {
    await write('one');
    await expect(SpoolFile.open(path, OTHER_LOG_ID)).rejects.toThrow(
      expect.objectContaining({
        code: 'SPOOL_UNUSABLE',
        message: expect.stringMatching(`${LOG_ID}.*${OTHER_LOG_ID}`) as string,
      }) as Error,
    );
    await writeFile(path, 'x'.repeat(100));
    await expect(SpoolFile.open(path, LOG_ID)).rejects.toThrow(/not a spool file/);
  });

  it('says so when its file shrinks in use', async () => {
    const spool = await SpoolFile.open(path, LOG_ID);
    await spool.append([record('one')]);
    await truncate(path, 50);
    await expect(spool.peek(100)).rejects.toThrow(
      expect.objectContaining({ code: 'SPOOL_UNUSABLE' }) as Error,
    );
    await spool.close();
  });
});
