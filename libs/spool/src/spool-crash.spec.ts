import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bytesOf, HEADER_BYTES, PREFIX, SpoolDirectory } from './spool-directory.fixture.js';
import { Spool, type SpoolSettings } from './spool.js';

const WHOLE: SpoolSettings = { ...PREFIX, keeps: 'whole records' };

let directory: SpoolDirectory;
beforeEach(() => {
  directory = new SpoolDirectory();
});
afterEach(() => {
  directory.remove();
});

describe('a spool after a crash', () => {
  it('keeps the whole records before a tail that is cut anywhere, and takes more', async () => {
    await directory.write(['one', 'two']);
    const whole = await readFile(directory.segment(1));
    for (let length = 0; length <= whole.length; length++) {
      await writeFile(directory.segment(1), whole.subarray(0, length));
      const numWhole = [whole.length - 11, whole.length].filter((end) => end <= length).length;
      const left = ['one', 'two'].slice(0, numWhole);
      const reopened = await directory.reopen();
      expect(reopened).toMatchObject({ records: left, peeked: left, numRecords: numWhole });
      expect(reopened.numCutBytes).toBe(
        length <= HEADER_BYTES && length > 0
          ? length % HEADER_BYTES
          : Math.max(0, length - HEADER_BYTES - 11 * numWhole),
      );
      await directory.write(['three']);
      expect(await directory.reopen()).toMatchObject({ records: [...left, 'three'], numCutBytes: 0 });
      await Promise.all((await readdir(directory.path)).map((name) => rm(join(directory.path, name))));
    }
  });

  it('takes a file that has only zeros, as a loss of power leaves it, for one without records', async () => {
    await writeFile(directory.segment(1), Buffer.alloc(500));
    expect(await directory.reopen()).toMatchObject({ records: [], numCutBytes: 500 });
  });

  it('keeps a prefix, or all records but the damaged one, wherever a bit has changed', async () => {
    await directory.write(['one', 'two', 'three']);
    const whole = await readFile(directory.segment(1));
    for (let bit = 8 * HEADER_BYTES; bit < 8 * whole.length; bit += 3) {
      const at = Math.floor(bit / 8);
      const damaged = Buffer.from(whole);
      damaged[at] ^= 1 << (bit % 8);
      const numBefore = Math.min(2, Math.floor((at - HEADER_BYTES) / 11));
      await writeFile(directory.segment(1), damaged);
      const around = ['one', 'two', 'three'].filter((_, n) => n !== numBefore);
      expect(await directory.reopen(WHOLE)).toMatchObject({ records: around, peeked: around });
      await writeFile(directory.segment(1), damaged);
      const { records, numCutBytes } = await directory.reopen(PREFIX);
      expect(records).toEqual(['one', 'two', 'three'].slice(0, numBefore));
      expect(numCutBytes).toBe(whole.length - HEADER_BYTES - 11 * numBefore);
    }
  });

  it('keeps all other records of many where one bit of a length changes, and a copy where a prefix is wanted', async () => {
    const all = Array.from({ length: 1000 }, (_, n) => `record ${n}`);
    const spool = await Spool.open(directory.path, PREFIX);
    await spool.append(all.map(bytesOf));
    await spool.close();
    const bytes = await readFile(directory.segment(1));
    bytes[HEADER_BYTES + 3] ^= 0x80;
    await writeFile(directory.segment(1), bytes);
    expect(await directory.reopen(WHOLE)).toMatchObject({ records: all.slice(1), peeked: all.slice(1) });
    expect(await directory.reopen(PREFIX)).toMatchObject({ records: [], isEnds: [true] });
    const copies = await readdir(directory.path);
    expect(copies).toEqual([expect.stringMatching(/^0000000001\.spool\.\d+\.damaged$/)]);
    expect(await readFile(join(directory.path, copies[0]))).toEqual(bytes);
    await directory.write(['later']);
    expect(await directory.reopen()).toMatchObject({ records: ['later'] });
  });

  it('gives a record that contains a whole frame back as one', async () => {
    await directory.write(['inner']);
    const frame = (await readFile(directory.segment(1))).subarray(HEADER_BYTES);
    const spool = await Spool.open(directory.path, WHOLE);
    await spool.append([Buffer.concat([frame, bytesOf('outer')]), bytesOf('next')]);
    await spool.close();
    const records = ['inner', `${frame.toString()}outer`, 'next'];
    expect(await directory.reopen(WHOLE)).toMatchObject({ records, isEnds: [] });
  });

  it('finds records behind megabytes of zeros, and bytes that look like many lengths', async () => {
    await directory.write(['one', 'two']);
    const bytes = await readFile(directory.segment(1));
    const zeros = Buffer.alloc(16 * 1024 * 1024);
    await writeFile(directory.segment(1), Buffer.concat([bytes, zeros, bytes.subarray(HEADER_BYTES)]));
    const around = ['one', 'two', 'one', 'two'];
    expect(await directory.reopen(WHOLE)).toMatchObject({ records: around, isEnds: [false] });
    const lengths = Buffer.from(new Uint32Array(4 * 1024 * 1024).fill(0x0080_0000).buffer);
    await writeFile(directory.segment(1), Buffer.concat([bytes, lengths]));
    expect(await directory.reopen(WHOLE)).toMatchObject({ records: ['one', 'two'], isEnds: [true] });
    expect(await readdir(directory.path)).toEqual([
      '0000000001.spool',
      expect.stringMatching(/^0000000001\.spool\.\d+\.damaged$/),
    ]);
  });

  it('keeps no file behind damage where a prefix is wanted, and all of them otherwise', async () => {
    const settings = { segmentBytes: 1 };
    await directory.write(['one', 'two', 'three'], { ...PREFIX, ...settings });
    const damaged = await readFile(directory.segment(2));
    damaged[damaged.length - 1] ^= 1;
    await writeFile(directory.segment(2), damaged);
    const reopened = await directory.reopen({ ...WHOLE, ...settings });
    expect(reopened.records).toEqual(['one', 'three']);
    expect(reopened).toMatchObject({ peeked: ['one'], numCutBytes: 11, isEnds: [true] });
    await writeFile(directory.segment(2), damaged);
    expect(await directory.reopen({ ...PREFIX, ...settings })).toMatchObject({
      records: ['one'],
      numCutBytes: 11 + HEADER_BYTES + 13,
    });
    expect(await readdir(directory.path)).toEqual([
      '0000000001.spool',
      expect.stringMatching(/^0000000003\.spool\.\d+\.damaged$/),
    ]);
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
        await rm(directory.path, { recursive: true });
        let spool = await Spool.open(directory.path, settings);
        let numAppended = 0;
        let numTaken = 0;
        for (const each of [...steps, { tear: Uint8Array.of() }]) {
          if ('append' in each) {
            await spool.append(each.append.map((size) => bytesOf(`${numAppended++}:${'x'.repeat(size)}`)));
          } else if ('take' in each) {
            const { length } = (await spool.peek(200)).slice(0, each.take);
            await spool.take(length);
            numTaken += length;
          } else {
            await spool.close();
            const last = (await readdir(directory.path)).sort().at(-1);
            if (last !== undefined) await appendFile(join(directory.path, last), each.tear);
            const found: number[] = [];
            const onRecord = (bytes: Buffer) => found.push(Number(bytes.toString().split(':')[0]));
            spool = await Spool.open(directory.path, settings, { onRecord });
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
