import type { FlatLists } from '../arrow/arrow-columns.js';

/**
 * Copies rows of a ragged column: row r of the result is row `rows[r]` of the chunks, counted through all of them. Rows that are
 * neighbours in a chunk are copied together.
 */
export function takeLists<A extends Int32Array | Uint8Array | Float32Array>(
  chunks: readonly FlatLists[],
  rows: ArrayLike<number>,
  arrayType: new (length: number) => A,
): { readonly offsets: Int32Array; readonly values: A } {
  const firstRows = measureFirstRows(chunks);
  const offsets = new Int32Array(rows.length + 1);
  let chunk = 0;
  for (let i = 0; i < rows.length; i++) {
    chunk = findChunk(rows[i], firstRows, chunk);
    const row = rows[i] - firstRows[chunk];
    offsets[i + 1] = offsets[i] + chunks[chunk].offsets[row + 1] - chunks[chunk].offsets[row];
  }
  const values = new arrayType(offsets[rows.length]);
  for (let from = 0; from < rows.length;) {
    chunk = findChunk(rows[from], firstRows, chunk);
    let to = from + 1;
    while (to < rows.length && rows[to] === rows[to - 1] + 1 && rows[to] < firstRows[chunk + 1]) to++;
    const start = chunks[chunk].offsets[rows[from] - firstRows[chunk]];
    const end = chunks[chunk].offsets[rows[to - 1] - firstRows[chunk] + 1];
    values.set(chunks[chunk].values.subarray(start, end), offsets[from]);
    from = to;
  }
  return { offsets, values };
}

/** The first row of each chunk, [chunks + 1]; the last item is the number of rows. */
function measureFirstRows(chunks: readonly FlatLists[]): Int32Array {
  const firstRows = new Int32Array(chunks.length + 1);
  chunks.forEach(({ offsets }, i) => (firstRows[i + 1] = firstRows[i] + offsets.length - 1));
  return firstRows;
}

/** Finds the chunk that holds a row, starting at `guess`, since rows mostly ascend. */
function findChunk(row: number, firstRows: Int32Array, guess: number): number {
  if (row < 0 || row >= firstRows[firstRows.length - 1]) {
    throw new RangeError(`row is ${row}; there are ${firstRows[firstRows.length - 1]}`);
  }
  let chunk = guess;
  while (row < firstRows[chunk]) chunk--;
  while (row >= firstRows[chunk + 1]) chunk++;
  return chunk;
}
