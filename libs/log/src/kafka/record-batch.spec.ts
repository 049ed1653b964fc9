import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chooseFragmented,
  decodePointer,
  encodePointer,
  computeFragmentBytes,
  joinFragments,
  MAX_BATCH_RECORDS,
  messageBytes,
  pointerBytes,
} from './record-batch.js';

const KIB = 1024;

describe('a pointer', () => {
  it('decodes to its size, checksum and offsets, and joins only the fragments it was made for', () => {
    const offsets = fc.array(fc.integer({ min: 0, max: 2 ** 48 - 1 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 2, maxLength: 200 }), offsets, fc.nat(), (record, at, cut) => {
        const pointer = decodePointer(encodePointer(record, at));
        expect(pointer?.offsets).toEqual(at);
        const middle = cut % record.length;
        const fragments = [Buffer.from(record.subarray(0, middle)), Buffer.from(record.subarray(middle))];
        expect(pointer && joinFragments(pointer, fragments)).toEqual(Buffer.from(record));
        expect(pointer && joinFragments(pointer, fragments.slice(0, 1))).toBeNull();
        fragments[1][0] ^= 1;
        expect(pointer && joinFragments(pointer, fragments)).toBeNull();
      }),
    );
  });

  it('decodes to null when its length is wrong', () => {
    for (const size of [0, 7, 8, 13, 15]) expect(decodePointer(Buffer.alloc(size))).toBeNull();
  });
});

describe('chooseFragmented', () => {
  it('chooses nothing of an append that fits', () => {
    expect(chooseFragmented([new Uint8Array(100), new Uint8Array(200)], KIB)).toEqual(new Set());
  });

  it('chooses the largest records first, and no more than needed', () => {
    const records = [300, 900, 200, 800].map((size) => new Uint8Array(size));
    // 2,200 bytes and 4 × 48: without the 900 (a pointer of 14 in its place) 1,506 remain, without the 800 too, 720.
    expect(chooseFragmented(records, KIB)).toEqual(new Set([1, 3]));
    expect(chooseFragmented(records, 2 * KIB)).toEqual(new Set([1]));
  });

  it('makes every append fit that it does not refuse', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 3 * KIB }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 512, max: 8 * KIB }), (lengths, maxBatchBytes) => {
        const records = lengths.map((length) => new Uint8Array(length));
        const chosen = chooseFragmented(records, maxBatchBytes);
        const fragment = computeFragmentBytes(maxBatchBytes);
        const total = (fragmented: ReadonlySet<number>) =>
          lengths.reduce(
            (sum, length, i) =>
              sum + messageBytes(new Uint8Array(fragmented.has(i) ? pointerBytes(length, fragment) : length)),
            0,
          );
        if (chosen !== null) expect(total(chosen)).toBeLessThanOrEqual(maxBatchBytes);
        // Refused only when not even pointers for all that shrink would fit.
        else {
          const shrinking = new Set(lengths.flatMap((n, i) => (pointerBytes(n, fragment) < n ? [i] : [])));
          expect(total(shrinking)).toBeGreaterThan(maxBatchBytes);
        }
      }),
    );
  });

  it('refuses more records than a batch can hold', () => {
    const records = Array.from({ length: MAX_BATCH_RECORDS + 1 }, () => new Uint8Array(0));
    expect(chooseFragmented(records, 64 * KIB * KIB)).toBeNull();
  });
});
