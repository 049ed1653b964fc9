import { describe, expect, it } from 'vitest';
import { seededRandom } from '../testing/random-batch.js';
import { bucketByLength } from './length-buckets.js';

function offsetsOf(lengths: readonly number[]): Int32Array {
  const offsets = Int32Array.from([0, ...lengths]);
  for (let s = 1; s < offsets.length; s++) offsets[s] += offsets[s - 1];
  return offsets;
}

describe('bucketByLength', () => {
  it('pads each sequence only by its own length, with its last cell', () => {
    const { buckets, rowOfCell, rowOfQuery } = bucketByLength(offsetsOf([3, 8]), null);
    const cells = Int32Array.of(0, 1, 2, 2, 2, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    expect(buckets).toEqual([{ numRows: 2, rowLength: 8, numQueries: 8, cells, queryColumns: null }]);
    expect([...rowOfCell]).toEqual([0, 1, 2, 8, 9, 10, 11, 12, 13, 14, 15]);
    expect([...rowOfQuery]).toEqual([...rowOfCell]);
    const alone = (length: number) => bucketByLength(offsetsOf([length]), null).buckets[0].rowLength;
    for (let length = 1; length < 600; length++) {
      const [{ rowLength }] = bucketByLength(offsetsOf([length, 599]), null).buckets.filter(({ cells }) =>
        cells.includes(0),
      );
      expect(rowLength).toBe(alone(length));
    }
  });

  it('keeps long and short sequences apart, so that little is padded', () => {
    const { buckets } = bucketByLength(offsetsOf([20, 512, 500, 17, 40]), null);
    expect(buckets.map(({ numRows, rowLength }) => [numRows, rowLength])).toEqual([
      [2, 32],
      [2, 512],
      [1, 40],
    ]);
  });

  it('finds every cell and every query in its place, whatever the lengths and queries', () => {
    const random = seededRandom(3);
    for (let trial = 0; trial < 200; trial++) {
      const lengths = Array.from({ length: 1 + Math.floor(random() * 8) }, () =>
        Math.floor(1 + 150 * random() ** 3),
      );
      const offsets = offsetsOf(lengths);
      const numCells = offsets[lengths.length];
      const share = random();
      const chosen = Int32Array.from({ length: numCells }, (_, cell) => cell).filter(() => random() < share);
      const queries = chosen.length === 0 ? null : chosen;
      const queryCells = queries ?? Int32Array.from({ length: numCells }, (_, cell) => cell);
      const { buckets, rowOfCell, rowOfQuery, queryOfRow, queryOfCell } = bucketByLength(offsets, queries);
      const cells = buckets.flatMap((bucket) => [...bucket.cells]);
      expect([...rowOfCell].map((row) => cells[row])).toEqual([...new Array<number>(numCells).keys()]);
      const queriesOfRows = buckets.flatMap(({ cells, rowLength, numRows, numQueries, queryColumns }) =>
        Array.from({ length: numRows * numQueries }, (_, i) => {
          const column = queryColumns === null ? i % numQueries : queryColumns[i];
          return cells[Math.floor(i / numQueries) * rowLength + column];
        }),
      );
      expect([...rowOfQuery].map((row) => queriesOfRows[row])).toEqual([...queryCells]);
      expect([...rowOfQuery].map((row) => queryOfRow[row])).toEqual([...queryCells.keys()]);
      expect(queryOfRow.filter((query) => query < queryCells.length).length).toBe(queryCells.length);
      expect([...queryOfCell].filter((query) => query < queryCells.length)).toEqual([...queryCells.keys()]);
    }
  });
});
