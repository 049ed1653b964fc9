import {
  appendFile,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Spool, type SpoolSettings } from './spool.js';
import type { SegmentDamage } from './segment.js';
import type { SpoolErrorCode } from './spool-error.js';

const OWNER = '01890000-0000-7000-8000-000000000000';
const OTHER_OWNER = '01890000-0000-7000-8000-000000000001';
const HEADER_BYTES = 8 + 36;
const PREFIX: SpoolSettings = { sync: true, keeps: 'prefix', owner: OWNER };
const WHOLE: SpoolSettings = { ...PREFIX, keeps: 'whole records' };
const record = (text: string): Uint8Array => Buffer.from(text);
const texts = (records: readonly Uint8Array[]): string[] =>
  records.map((bytes) => Buffer.from(bytes).toString());
const failing = (code: SpoolErrorCode) => expect.objectContaining({ code }) as Error;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spool-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true });
});

const pathOf = (number: number) => join(directory, `${`${number}`.padStart(10, '0')}.spool`);

/** A spool with these records, closed. */
async function write(all: readonly string[], settings = PREFIX): Promise<void> {
  const spool = await Spool.open(directory, settings);
  for (const each of all) await spool.append([record(each)]);
  await spool.close();
}

interface Reopened {
  readonly records: string[];
  readonly numCutBytes: number;
  readonly damages: SegmentDamage[];
}

/** Opens the directory again; returns what it tells, after a check that `peek` and `take` give the same. */
async function reopen(settings = PREFIX): Promise<Reopened> {
  const records: string[] = [];
  const damages: SegmentDamage[] = [];
  const spool = await Spool.open(directory, settings, {
    onRecord: (bytes) => records.push(bytes.toString()),
    onDamage: (damage) => damages.push(damage),
  });
  expect(spool.numRecords).toBe(records.length);
  expect(texts(await spool.peek(1e9))).toEqual(records.slice(0, (await spool.peek(1e9)).length));
  await spool.close();
  return { records, numCutBytes: spool.numCutBytes, damages };
}

/** A method of all open files. */
async function fileMethods() {
  const handle = await open(join(directory, 'any'), 'w');
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  await rm(join(directory, 'any'));
  return prototype;
}

describe('a spool', () => {
  it('gives records back in order, also to another process, until they are taken', async () => {
    const spool = await Spool.open(directory, PREFIX);
    await spool.append([record('one'), record('')]);
    await spool.append([record('three')]);
    expect(texts(await spool.peek(1))).toEqual(['one']);
    expect(texts(await spool.peek(11 + 8))).toEqual(['one', '']);
    await spool.take(1);
    expect(texts(await spool.peek(8 + 13))).toEqual(['', 'three']);
    await spool.close();
    expect((await reopen()).records).toEqual(['one', '', 'three']);
  });

  it('begins another file when one is full, and removes each whose records were taken', async () => {
    const spool = await Spool.open(directory, { ...PREFIX, segmentBytes: HEADER_BYTES + 20 });
    for (const each of ['a', 'b', 'c', 'd', 'e']) await spool.append([record(each)]);
    expect(await readdir(directory)).toHaveLength(2);
    expect(texts(await spool.peek(100))).toEqual(['a', 'b', 'c']);
    await spool.take(4);
    expect(await readdir(directory)).toHaveLength(1);
    expect(texts(await spool.peek(100))).toEqual(['e']);
    await spool.take(1);
    expect(await readdir(directory)).toEqual([]);
    expect(spool).toMatchObject({ numRecords: 0, sizeBytes: 0 });
    await spool.append([record('f')]);
    await spool.close();
    expect((await reopen()).records).toEqual(['f']);
  });

  it('writes what waits together, and settles appends in their order', async () => {
    const spool = await Spool.open(directory, PREFIX);
    const datasync = vi.spyOn(await fileMethods(), 'datasync');
    const settled: number[] = [];
    await Promise.all(
      [1, 2, 3, 4].map(async (n) => {
        await spool.append([record(`${n}`)]);
        settled.push(n);
      }),
    );
    expect(datasync).toHaveBeenCalledTimes(1);
    expect(settled).toEqual([1, 2, 3, 4]);
    await spool.close();
  });

  it('refuses appends beyond the bytes that may wait for a disk that hangs, and takes more when it works', async () => {
    const spool = await Spool.open(directory, { ...PREFIX, maxWaitingBytes: 30 });
    let goOn = (): void => undefined;
    vi.spyOn(await fileMethods(), 'datasync').mockImplementationOnce(
      () => new Promise((resolve) => (goOn = resolve)),
    );
    const first = spool.append([record('larger than all that may wait for the disk')]);
    await expect(spool.append([record('x')])).rejects.toThrow(failing('SPOOL_FULL'));
    await expect.poll(() => goOn.name).not.toBe('goOn');
    goOn();
    await first;
    expect(spool.waitingBytes).toBe(0);
    await spool.append([record('y')]);
    await spool.close();
    await expect(spool.append([record('z')])).rejects.toThrow(failing('SPOOL_CLOSED'));
  });

  it('refuses records of another owner, naming both, and files that are no spool', async () => {
    await write(['one']);
    await expect(Spool.open(directory, { ...PREFIX, owner: OTHER_OWNER })).rejects.toThrow(
      expect.objectContaining({
        code: 'SPOOL_UNUSABLE',
        message: expect.stringMatching(`${OWNER}.*${OTHER_OWNER}`) as string,
      }) as Error,
    );
    await writeFile(pathOf(1), 'x'.repeat(100));
    await expect(Spool.open(directory, PREFIX)).rejects.toThrow(/not a spool file/);
  });

  it('says so when its file shrinks in use', async () => {
    const spool = await Spool.open(directory, PREFIX);
    await spool.append([record('one')]);
    await truncate(pathOf(1), 50);
    await expect(spool.peek(100)).rejects.toThrow(failing('SPOOL_DAMAGED'));
    await spool.close();
  });
});

describe('a spool after a crash', () => {
  it('keeps the whole records before a tail that is cut anywhere, and takes more', async () => {
    await write(['one', 'two']);
    const whole = await readFile(pathOf(1));
    for (let length = 0; length <= whole.length; length++) {
      await writeFile(pathOf(1), whole.subarray(0, length));
      const numWhole = [whole.length - 11, whole.length].filter((end) => end <= length).length;
      const left = ['one', 'two'].slice(0, numWhole);
      const reopened = await reopen();
      expect(reopened.records).toEqual(left);
      expect(reopened.numCutBytes).toBe(
        length <= HEADER_BYTES && length > 0
          ? length % HEADER_BYTES
          : Math.max(0, length - HEADER_BYTES - 11 * numWhole),
      );
      await write(['three']);
      expect(await reopen()).toEqual({ records: [...left, 'three'], numCutBytes: 0, damages: [] });
      await Promise.all((await readdir(directory)).map((name) => rm(join(directory, name))));
    }
  });

  it('takes a file that has only zeros, as a loss of power leaves it, for one without records', async () => {
    await writeFile(pathOf(1), Buffer.alloc(500));
    expect(await reopen()).toMatchObject({ records: [], numCutBytes: 500 });
  });

  it('keeps a prefix, or the records around a damaged one, wherever a byte has changed', async () => {
    await write(['one', 'two', 'three']);
    const whole = await readFile(pathOf(1));
    for (let at = HEADER_BYTES; at < whole.length; at++) {
      const damaged = Buffer.from(whole);
      damaged[at] ^= 0x10;
      const numBefore = Math.min(2, Math.floor((at - HEADER_BYTES) / 11));
      const isLength = at - HEADER_BYTES - 11 * numBefore < 4;
      await writeFile(pathOf(1), damaged);
      const around = ['one', 'two', 'three'].filter((_, n) => (isLength ? n < numBefore : n !== numBefore));
      expect((await reopen(WHOLE)).records).toEqual(around);
      await writeFile(pathOf(1), damaged);
      const { records, numCutBytes } = await reopen(PREFIX);
      expect(records).toEqual(['one', 'two', 'three'].slice(0, numBefore));
      expect(numCutBytes).toBe(whole.length - HEADER_BYTES - 11 * numBefore);
    }
  });

  it('keeps no file behind damage where a prefix is wanted, and all of them otherwise', async () => {
    const settings = { segmentBytes: 1 };
    await write(['one', 'two', 'three'], { ...PREFIX, ...settings });
    const damaged = await readFile(pathOf(2));
    damaged[damaged.length - 1] ^= 1;
    await writeFile(pathOf(2), damaged);
    const reopened = await reopen({ ...WHOLE, ...settings });
    expect(reopened.records).toEqual(['one', 'three']);
    expect(reopened.damages).toMatchObject([
      { path: pathOf(2), at: HEADER_BYTES, numBytes: 11, isEnd: true },
    ]);
    await writeFile(pathOf(2), damaged);
    expect(await reopen({ ...PREFIX, ...settings })).toMatchObject({
      records: ['one'],
      numCutBytes: 11 + HEADER_BYTES + 13,
    });
    expect(await readdir(directory)).toHaveLength(1);
  });

  it('has each durable record once and in order, whatever was appended, taken and torn', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ append: fc.array(fc.nat(40), { minLength: 1, maxLength: 4 }) }) },
      { weight: 2, arbitrary: fc.record({ take: fc.nat(5) }) },
      { weight: 1, arbitrary: fc.record({ tear: fc.uint8Array({ maxLength: 30 }) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.nat(120), async (steps, segmentBytes) => {
        const settings = { ...PREFIX, segmentBytes };
        await rm(directory, { recursive: true });
        let spool = await Spool.open(directory, settings);
        let numAppended = 0;
        let numTaken = 0;
        for (const each of [...steps, { tear: Uint8Array.of() }]) {
          if ('append' in each) {
            await spool.append(each.append.map((size) => record(`${numAppended++}:${'x'.repeat(size)}`)));
          } else if ('take' in each) {
            const { length } = (await spool.peek(200)).slice(0, each.take);
            await spool.take(length);
            numTaken += length;
          } else {
            await spool.close();
            const last = (await readdir(directory)).sort().at(-1);
            if (last !== undefined) await appendFile(join(directory, last), each.tear);
            const found: number[] = [];
            const onRecord = (bytes: Buffer) => found.push(Number(bytes.toString().split(':')[0]));
            spool = await Spool.open(directory, settings, { onRecord });
            // Those of the oldest file that were taken come again.
            const first = found.at(0) ?? numAppended;
            expect(first).toBeLessThanOrEqual(numTaken);
            expect(found).toEqual(Array.from({ length: numAppended - first }, (_, n) => first + n));
            numTaken = first;
          }
        }
        await spool.close();
      }),
      { numRuns: 50 },
    );
  });
});

describe('a spool whose disk fails', () => {
  it.each(['datasync', 'write'] as const)('has nothing of an append whose %s fails', async (method) => {
    const spool = await Spool.open(directory, PREFIX);
    const methods = await fileMethods();
    const fail = () => vi.spyOn(methods, method).mockRejectedValueOnce(new Error('EIO: i/o error'));
    fail();
    await expect(spool.append([record('first')])).rejects.toThrow(failing('SPOOL_WRITE_FAILED'));
    await spool.append([record('one')]);
    fail();
    // The disk does not let it cut off the rest either.
    vi.spyOn(methods, 'truncate').mockRejectedValueOnce(new Error('EIO: i/o error'));
    await expect(spool.append([record('not'), record('this')])).rejects.toThrow('EIO: i/o error');
    expect(texts(await spool.peek(100))).toEqual(['one']);
    await spool.append([record('two')]);
    await spool.close();
    expect((await reopen()).records).toEqual(['one', 'two']);
  });
});

describe('a spool that is replaced by a snapshot', () => {
  const ready = () => Promise.resolve();

  it('has the snapshot, which is given what waits, and later records', async () => {
    const spool = await Spool.open(directory, PREFIX);
    await spool.append([record('old')]);
    let goOn = (): void => undefined;
    const replaced = spool.replace(
      () => new Promise((resolve) => (goOn = resolve)),
      (waiting) => [record('snapshot'), ...waiting],
    );
    await expect.poll(() => goOn.name).not.toBe('goOn');
    const waits = spool.append([record('waits')]);
    goOn();
    await Promise.all([replaced, waits]);
    await spool.append([record('later')]);
    expect(spool.sizeBytes).toBe((await stat(join(directory, '0000000002.snapshot'))).size);
    await spool.close();
    expect((await reopen()).records).toEqual(['snapshot', 'waits', 'later']);
  });

  it('is the same whether a crash left the files before it or not, or one that was not finished', async () => {
    await write(['old'], PREFIX);
    const old = await readFile(pathOf(1));
    const spool = await Spool.open(directory, PREFIX);
    await spool.replace(ready, () => [record('snapshot')]);
    await spool.close();
    await writeFile(pathOf(1), old);
    await writeFile(join(directory, '0000000003.snapshot.new'), old);
    expect((await reopen()).records).toEqual(['snapshot']);
    expect(await readdir(directory)).toEqual(['0000000002.snapshot']);
  });

  it.each(['write', 'datasync', 'sync'] as const)('keeps all records where its %s fails', async (method) => {
    const spool = await Spool.open(directory, PREFIX);
    await spool.append([record('old')]);
    vi.spyOn(await fileMethods(), method).mockRejectedValueOnce(new Error('EIO: i/o error'));
    await expect(spool.replace(ready, () => [record('snapshot')])).rejects.toThrow(
      failing('SPOOL_WRITE_FAILED'),
    );
    await spool.append([record('later')]);
    await spool.close();
    expect((await reopen()).records).toEqual(['old', 'later']);
  });
});
