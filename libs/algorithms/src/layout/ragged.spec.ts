import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { broadcastRows, toOffsets, rowLengths, rowSums } from '../index.js';
import { momentsOfGroups } from './groups.js';
import { catchFault } from '../testing/invalid.js';

const lengths = fc.array(fc.nat(9), { maxLength: 8 });

describe('ragged rows', () => {
  it('rowSums: gives the sum of each row, whatever its length', () => {
    fc.assert(
      fc.property(lengths, (drawn) => {
        const offsets = toOffsets(drawn);
        const values = Float32Array.from({ length: offsets[drawn.length] }, (_, i) => i + 1);
        drawn.forEach((_, row) => {
          // 1 + 2 + … up to the end, less what is before the row
          const upTo = (n: number): number => (n * (n + 1)) / 2;
          expect(rowSums(values, offsets)[row]).toBe(upTo(offsets[row + 1]) - upTo(offsets[row]));
        });
      }),
    );
  });

  it('rowSums: skips only zeros, wherever the array begins in memory', () => {
    // Long enough and sparse: single values, pairs that cancel as one float64 (1, then −1 two places on), −0, the smallest float32.
    for (const begin of [0, 1, 2]) {
      const offsets = toOffsets([7, 0, 500, 16, 33, 1200, 1, 344]);
      const values = new Float32Array(2101 + begin).subarray(begin);
      values.set([1, 0, -1], 32);
      values.set([-0, 1e-45], 520);
      values.set([0.5, 0.25], 555);
      values[6] = 3;
      values[2100] = -8;
      values[40] = 2;
      const naive = [...offsets.subarray(1)].map((end, row) =>
        values.subarray(offsets[row], end).reduce((sum, value) => sum + value, 0),
      );
      expect([...rowSums(values, offsets)]).toEqual(naive);
      values[1000] = NaN;
      expect(catchFault(() => rowSums(values, offsets)).message).toBe('values[1000] is NaN, must be finite');
    }
  });

  it('rowSums: refuses values that are not finite, and names the first', () => {
    const values = Float32Array.of(1, 2, Infinity, Number.NaN);
    expect(catchFault(() => rowSums(values, Int32Array.of(0, 2, 4))).message).toBe(
      'values[2] is Infinity, must be finite',
    );
  });

  it('broadcastRows repeats row values; rowLengths and toOffsets are inverses', () => {
    expect([...broadcastRows(Float32Array.of(5, 6, 7), Int32Array.of(0, 2, 2, 3))]).toEqual([5, 5, 7]);
    fc.assert(
      fc.property(lengths, (drawn) => {
        expect([...rowLengths(toOffsets(drawn))]).toEqual(drawn);
      }),
    );
    expect(catchFault(() => broadcastRows(new Float32Array(2), Int32Array.of(0, 1))).message).toBe(
      'perRow has 2 entries, must have 1',
    );
  });
});

describe('momentsOfGroups', () => {
  it('gives the mean, the sample deviation, and whether all values are equal', () => {
    const { counts, means, stds, allEqual } = momentsOfGroups(
      Float32Array.of(1, 3, 7, 7, 9),
      Int32Array.of(0, 0, 2, 2, 4),
    );
    expect([...counts]).toEqual([2, 0, 2, 0, 1]);
    expect([...means]).toEqual([2, NaN, 7, NaN, 9]);
    expect([...stds]).toEqual([Math.SQRT2, 0, 0, 0, 0]);
    expect([...allEqual]).toEqual([0, 0, 1, 0, 0]);
  });
});
