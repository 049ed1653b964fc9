import { describe, expect, it } from 'vitest';
import { seededRandom } from '../testing/random-batch.js';
import { packRows } from './row-batch.js';
import type { RowBatch } from './row-batch.js';

/** Sequences of the given lengths whose token ids tell position n in the flat batch. */
function batchOf(lengths: readonly number[]) {
  const sequenceOffsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, s) => {
    sequenceOffsets[s + 1] = sequenceOffsets[s] + length;
  });
  const numTokens = sequenceOffsets[lengths.length];
  return { tokenIds: Int32Array.from({ length: numTokens }, (_, n) => n), sequenceOffsets };
}

/** The cell (row · T + column) in the last layer's rows that each read stands in. */
function readCells({ rowLength, numQueries, queryColumns, readQueries, numRows }: RowBatch): number[] {
  const queries = readQueries ?? Int32Array.from({ length: numRows * numQueries }, (_, query) => query);
  return Array.from(queries, (query) =>
    queryColumns === null ? query : Math.floor(query / numQueries) * rowLength + queryColumns[query],
  );
}

describe('packRows', () => {
  it('gives equally long sequences one row each, without padding', () => {
    const batch = batchOf([4, 4, 4]);
    const readMask = Uint8Array.from(batch.tokenIds, (n) => (n % 4 === 3 ? 1 : 0));
    const [rows, ...others] = packRows(batch, { readMask, maxTokens: 100 });
    expect(others).toEqual([]);
    expect(rows).toMatchObject({ numRows: 3, rowLength: 4, segmentIds: null, numQueries: 1 });
    expect([...rows.tokenIds]).toEqual([...batch.tokenIds]);
    expect([...rows.queryColumns!]).toEqual([3, 3, 3]);
    expect(rows.readQueries).toBeNull();
  });

  it('fills what long sequences leave with short ones', () => {
    const batch = batchOf([2, 6, 3, 4]);
    const readMask = new Uint8Array(15).fill(1);
    const [rows, ...others] = packRows(batch, { readMask, maxTokens: 18 });
    expect(others).toEqual([]);
    // 6 | 4 + 2 | 3
    expect(rows).toMatchObject({ numRows: 3, rowLength: 6 });
    expect([...rows.segmentIds!]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, -1, -1, -1]);
    expect([...rows.tokenIds].slice(6, 12)).toEqual([11, 12, 13, 14, 0, 1]);
  });

  it('leaves out sequences without a read, and tokens after the last read of one', () => {
    const batch = batchOf([5, 5]);
    const readMask = Uint8Array.of(0, 0, 0, 0, 0, 0, 1, 1, 0, 0);
    const [rows] = packRows(batch, { readMask, maxTokens: 100 });
    expect(rows).toMatchObject({ numRows: 1, rowLength: 3 });
    expect([...rows.tokenIds]).toEqual([5, 6, 7]);
    expect([...rows.readPositions]).toEqual([6, 7]);
  });

  it('gives a sequence longer than the limit a row batch of its own', () => {
    const batch = batchOf([9, 2]);
    const rowBatches = packRows(batch, { readMask: new Uint8Array(11).fill(1), maxTokens: 4 });
    expect(rowBatches.map(({ numRows, rowLength }) => [numRows, rowLength])).toEqual([
      [1, 9],
      [1, 2],
    ]);
  });

  it('makes nothing of nothing', () => {
    expect(packRows(batchOf([]), { readMask: new Uint8Array(0), maxTokens: 8 })).toEqual([]);
    expect(packRows(batchOf([3, 0]), { readMask: new Uint8Array(3), maxTokens: 8 })).toEqual([]);
  });

  it('reads every marked position once, each in the row of its sequence, whatever the lengths and the limit', () => {
    const random = seededRandom(5);
    for (let trial = 0; trial < 200; trial++) {
      const lengths = Array.from({ length: 1 + Math.floor(random() * 12) }, () => Math.floor(random() * 10));
      const batch = batchOf(lengths);
      const share = random();
      const readMask = Uint8Array.from(batch.tokenIds, () => (random() < share ? 1 : 0));
      const maxTokens = 1 + Math.floor(random() * 40);
      const read: number[] = [];
      for (const rows of packRows(batch, { readMask, maxTokens })) {
        expect(rows.numRows === 1 || rows.numRows * rows.rowLength <= maxTokens).toBe(true);
        const cells = readCells(rows);
        expect(cells.map((cell) => rows.tokenIds[cell])).toEqual([...rows.readPositions]);
        for (let s = 0; s + 1 < rows.readOffsets.length; s++) {
          const reads = rows.readPositions.subarray(rows.readOffsets[s], rows.readOffsets[s + 1]);
          const sequence = batch.sequenceOffsets.findLastIndex((offset) => offset <= reads[0]);
          expect(reads.every((n) => n < batch.sequenceOffsets[sequence + 1])).toBe(true);
        }
        read.push(...rows.readPositions);
      }
      const marked = [...batch.tokenIds].filter((n) => readMask[n] === 1);
      expect(read.sort((a, b) => a - b)).toEqual(marked);
    }
  });
});
