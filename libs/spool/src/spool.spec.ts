import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bytesOf, HEADER_BYTES, OWNER, PREFIX, SpoolDirectory, textsOf } from './spool-directory.fixture.js';
import type { SpoolErrorCode } from './spool-error.js';
import { Spool } from './spool.js';

const OTHER_OWNER = '01890000-0000-7000-8000-000000000001';
const failing = (code: SpoolErrorCode) => expect.objectContaining({ code }) as Error;

let directory: SpoolDirectory;
beforeEach(() => {
  directory = new SpoolDirectory();
});
afterEach(() => {
  vi.restoreAllMocks();
  directory.remove();
});

describe('a spool', () => {
  it('gives records back in order, also to another process, until they are taken', async () => {
    const spool = await Spool.open(directory.path, PREFIX);
    await spool.append([bytesOf('one'), bytesOf('')]);
    await spool.append([bytesOf('three')]);
    expect(textsOf(await spool.peek(1))).toEqual(['one']);
    expect(textsOf(await spool.peek(11 + 8))).toEqual(['one', '']);
    await spool.take(1);
    expect(textsOf(await spool.peek(8 + 13))).toEqual(['', 'three']);
    await spool.close();
    expect((await directory.reopen()).records).toEqual(['one', '', 'three']);
  });

  it('begins another file when one is full, and removes each whose records were taken', async () => {
    const spool = await Spool.open(directory.path, { ...PREFIX, segmentBytes: HEADER_BYTES + 20 });
    for (const each of ['a', 'b', 'c', 'd', 'e']) await spool.append([bytesOf(each)]);
    expect(await readdir(directory.path)).toHaveLength(2);
    expect(textsOf(await spool.peek(100))).toEqual(['a', 'b', 'c']);
    await spool.take(4);
    expect(await readdir(directory.path)).toHaveLength(1);
    expect(textsOf(await spool.peek(100))).toEqual(['e']);
    await spool.take(1);
    expect(await readdir(directory.path)).toEqual([]);
    expect(spool).toMatchObject({ numRecords: 0, sizeBytes: 0 });
    await spool.append([bytesOf('f')]);
    await spool.close();
    expect((await directory.reopen()).records).toEqual(['f']);
  });

  it('writes what waits together, and settles appends in their order', async () => {
    const spool = await Spool.open(directory.path, PREFIX);
    const datasync = vi.spyOn(await directory.fileMethods(), 'datasync');
    const settled: number[] = [];
    await Promise.all(
      [1, 2, 3, 4].map(async (n) => {
        await spool.append([bytesOf(`${n}`)]);
        settled.push(n);
      }),
    );
    expect(datasync).toHaveBeenCalledTimes(1);
    expect(settled).toEqual([1, 2, 3, 4]);
    await spool.close();
  });

  it('refuses appends beyond the bytes that may wait for a disk that hangs, and takes more when it works', async () => {
    const spool = await Spool.open(directory.path, { ...PREFIX, maxWaitingBytes: 30 });
    let goOn = (): void => undefined;
    vi.spyOn(await directory.fileMethods(), 'datasync').mockImplementationOnce(
      () => new Promise((resolve) => (goOn = resolve)),
    );
    const first = spool.append([bytesOf('larger than all that may wait for the disk')]);
    await expect(spool.append([bytesOf('x')])).rejects.toThrow(failing('SPOOL_FULL'));
    await expect.poll(() => goOn.name).not.toBe('goOn');
    goOn();
    await first;
    expect(spool.waitingBytes).toBe(0);
    await spool.append([bytesOf('y')]);
    await spool.close();
    await expect(spool.append([bytesOf('z')])).rejects.toThrow(failing('SPOOL_CLOSED'));
  });

  it('refuses records of another owner, naming both, and files that are no spool', async () => {
    await directory.write(['one']);
    await expect(Spool.open(directory.path, { ...PREFIX, owner: OTHER_OWNER })).rejects.toThrow(
      expect.objectContaining({
        code: 'SPOOL_UNUSABLE',
        message: expect.stringMatching(`${OWNER}.*${OTHER_OWNER}`) as string,
      }) as Error,
    );
    await writeFile(directory.segment(1), 'x'.repeat(100));
    await expect(Spool.open(directory.path, PREFIX)).rejects.toThrow(/not a spool file/);
  });

  it('says so when its file shrinks in use', async () => {
    const spool = await Spool.open(directory.path, PREFIX);
    await spool.append([bytesOf('one')]);
    await truncate(directory.segment(1), 50);
    await expect(spool.peek(100)).rejects.toThrow(failing('SPOOL_DAMAGED'));
    await spool.close();
  });
});

describe('a spool whose disk fails', () => {
  it.each(['datasync', 'write'] as const)('has nothing of an append whose %s fails', async (method) => {
    const spool = await Spool.open(directory.path, PREFIX);
    const methods = await directory.fileMethods();
    const fail = () => vi.spyOn(methods, method).mockRejectedValueOnce(new Error('EIO: i/o error'));
    fail();
    await expect(spool.append([bytesOf('first')])).rejects.toThrow(failing('SPOOL_WRITE_FAILED'));
    await spool.append([bytesOf('one')]);
    fail();
    // The disk does not let it cut off the rest either.
    vi.spyOn(methods, 'truncate').mockRejectedValueOnce(new Error('EIO: i/o error'));
    await expect(spool.append([bytesOf('not'), bytesOf('this')])).rejects.toThrow('EIO: i/o error');
    expect(textsOf(await spool.peek(100))).toEqual(['one']);
    await spool.append([bytesOf('two')]);
    await spool.close();
    expect((await directory.reopen()).records).toEqual(['one', 'two']);
  });

  it('cuts a refused append off when it closes, where the disk did not let it before', async () => {
    const spool = await Spool.open(directory.path, PREFIX);
    await spool.append([bytesOf('one')]);
    const methods = await directory.fileMethods();
    vi.spyOn(methods, 'datasync').mockRejectedValueOnce(new Error('EIO: i/o error'));
    vi.spyOn(methods, 'truncate').mockRejectedValueOnce(new Error('EIO: i/o error'));
    await expect(spool.append([bytesOf('not this')])).rejects.toThrow('EIO: i/o error');
    await spool.close();
    expect((await directory.reopen()).records).toEqual(['one']);
  });
});

describe('a spool that is replaced by a snapshot', () => {
  const ready = () => Promise.resolve();

  it('has the snapshot, which is given what waits, and later records', async () => {
    const spool = await Spool.open(directory.path, PREFIX);
    await spool.append([bytesOf('old')]);
    let goOn = (): void => undefined;
    const replaced = spool.replace(
      () => new Promise((resolve) => (goOn = resolve)),
      (waiting) => [bytesOf('snapshot'), ...waiting],
    );
    await expect.poll(() => goOn.name).not.toBe('goOn');
    const waits = spool.append([bytesOf('waits')]);
    goOn();
    await Promise.all([replaced, waits]);
    await spool.append([bytesOf('later')]);
    expect(spool.sizeBytes).toBe((await stat(join(directory.path, '0000000002.snapshot'))).size);
    await spool.close();
    expect((await directory.reopen()).records).toEqual(['snapshot', 'waits', 'later']);
  });

  it('is the same whether a crash left the files before it or not, or one that was not finished', async () => {
    await directory.write(['old'], PREFIX);
    const old = await readFile(directory.segment(1));
    const spool = await Spool.open(directory.path, PREFIX);
    await spool.replace(ready, () => [bytesOf('snapshot')]);
    await spool.close();
    await writeFile(directory.segment(1), old);
    await writeFile(join(directory.path, '0000000003.snapshot.new'), old);
    expect((await directory.reopen()).records).toEqual(['snapshot']);
    expect(await readdir(directory.path)).toEqual(['0000000002.snapshot']);
  });

  it.each(['write', 'datasync', 'sync'] as const)('keeps all records where its %s fails', async (method) => {
    const spool = await Spool.open(directory.path, PREFIX);
    await spool.append([bytesOf('old')]);
    vi.spyOn(await directory.fileMethods(), method).mockRejectedValueOnce(new Error('EIO: i/o error'));
    await expect(spool.replace(ready, () => [bytesOf('snapshot')])).rejects.toThrow(
      failing('SPOOL_WRITE_FAILED'),
    );
    expect(await readdir(directory.path)).toEqual(['0000000001.spool']);
    await spool.append([bytesOf('later')]);
    await spool.close();
    expect((await directory.reopen()).records).toEqual(['old', 'later']);
  });

  it('leaves no file on a full disk, however often it fails', async () => {
    const spool = await Spool.open(directory.path, PREFIX);
    await spool.append([bytesOf('old')]);
    const write = vi.spyOn(await directory.fileMethods(), 'write');
    for (let n = 0; n < 2; n++) {
      write.mockRejectedValueOnce(new Error('ENOSPC: no space left on device'));
      await expect(spool.replace(ready, () => [bytesOf('snapshot')])).rejects.toThrow('ENOSPC');
    }
    expect(await readdir(directory.path)).toEqual(['0000000001.spool']);
    await spool.close();
  });

  it('goes on in a file above a snapshot that may come back', async () => {
    const spool = await Spool.open(directory.path, PREFIX);
    await spool.append([bytesOf('old')]);
    const sync = vi.spyOn(await directory.fileMethods(), 'sync');
    for (let n = 0; n < 2; n++) sync.mockRejectedValueOnce(new Error('EIO: i/o error'));
    await expect(spool.replace(ready, () => [bytesOf('snapshot')])).rejects.toThrow('EIO');
    await spool.append([bytesOf('later')]);
    await spool.append([bytesOf('last')]);
    await spool.close();
    expect(await readdir(directory.path)).toEqual(['0000000001.spool', '0000000003.spool']);
    expect((await directory.reopen()).records).toEqual(['old', 'later', 'last']);
  });

  it('is left as it is once the spool is closed', async () => {
    const spool = await Spool.open(directory.path, PREFIX);
    await spool.append([bytesOf('old')]);
    await spool.close();
    const closed = failing('SPOOL_CLOSED');
    await expect(spool.replace(ready, () => [])).rejects.toThrow(closed);
    await expect(spool.take(1)).rejects.toThrow(closed);
    await expect(spool.release(() => true)).rejects.toThrow(closed);
    expect((await directory.reopen()).records).toEqual(['old']);
  });
});
