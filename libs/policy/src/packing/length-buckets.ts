/**
 * Sequences of a pack grouped by length, for attention by products of whole matrices: rows of one bucket are padded to its
 * length, so attention costs little more than Σ length². The padding of a sequence depends only on its own length;
 * otherwise the rounding of sums over it would depend on the other sequences.
 *
 * Legend: N cells · M queries · R rows of a bucket · L its columns · Q query columns a row.
 */
export interface LengthBucket {
  readonly numRows: number;
  /** L: at least the tokens of its longest sequence. */
  readonly rowLength: number;
  /** Q: most queries of one sequence. */
  readonly numQueries: number;
  /** [R·L] cells; rows are padded with their own last cell, which no real query sees from there. */
  readonly cells: Int32Array;
  /** [R·Q] columns of the queries, padded with column 0; null if all L columns of every row are, in order. */
  readonly queryColumns: Int32Array | null;
}

export interface BucketedSequences {
  readonly buckets: readonly LengthBucket[];
  /** [N] index of each cell among the rows of all buckets, one bucket after the other. */
  readonly rowOfCell: Int32Array;
  /** [M] index of each query among the queries of all buckets. */
  readonly rowOfQuery: Int32Array;
  /** [Σ R·Q] the query at this index, or M if it is padding. */
  readonly queryOfRow: Int32Array;
  /** [N] the query of each cell, or M if it has none. */
  readonly queryOfCell: Int32Array;
}

/** Lengths up to this are padded to powers of two: attention over short rows costs less than another bucket. */
const SHORT_TOKENS = 32;
/** Shortest row. */
const LEAST_TOKENS = 8;

/** @param queries [M] cells, ascending; null: all of them */
export function bucketByLength(offsets: Int32Array, queries: Int32Array | null): BucketedSequences {
  const numCells = offsets[offsets.length - 1];
  const queryCells = queries ?? Int32Array.from({ length: numCells }, (_, cell) => cell);
  const numQueries = queryCells.length;
  const queryOfCell = new Int32Array(numCells).fill(numQueries);
  queryCells.forEach((cell, query) => {
    queryOfCell[cell] = query;
  });
  const rowOfCell = new Int32Array(numCells);
  const rowOfQuery = new Int32Array(numQueries);
  const queryOfRow: number[] = [];
  const buckets: LengthBucket[] = [];
  let numRowCells = 0;
  for (const [rowLength, members] of groupByLength(offsets)) {
    const cells = new Int32Array(members.length * rowLength);
    members.forEach((s, row) => {
      for (let column = 0; column < rowLength; column++) {
        const cell = Math.min(offsets[s] + column, offsets[s + 1] - 1);
        cells[row * rowLength + column] = cell;
        if (offsets[s] + column === cell) rowOfCell[cell] = numRowCells + row * rowLength + column;
      }
    });
    numRowCells += cells.length;
    const queryColumns = selectColumns(offsets, rowLength, members, (cell) => queryOfCell[cell] < numQueries);
    const width = queryColumns === null ? rowLength : queryColumns.length / members.length;
    for (let i = 0; i < members.length * width; i++) {
      const s = members[Math.floor(i / width)];
      const column = queryColumns === null ? i % width : queryColumns[i];
      const cell = offsets[s] + column;
      const query = cell < offsets[s + 1] ? queryOfCell[cell] : numQueries;
      // Padding repeats column 0, whose own query comes first.
      const isPadding = query === numQueries || (column === 0 && i % width > 0);
      if (!isPadding) rowOfQuery[query] = queryOfRow.length;
      queryOfRow.push(isPadding ? numQueries : query);
    }
    buckets.push({ numRows: members.length, rowLength, numQueries: width, cells, queryColumns });
  }
  return { buckets, rowOfCell, rowOfQuery, queryOfRow: Int32Array.from(queryOfRow), queryOfCell };
}

/** Groups sequences that have tokens by the length that they are padded to, in their order. */
function groupByLength(offsets: Int32Array): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  for (let s = 0; s + 1 < offsets.length; s++) {
    const length = offsets[s + 1] - offsets[s];
    if (length === 0) continue;
    const rowLength = paddedLength(length);
    const group = groups.get(rowLength);
    if (group) group.push(s);
    else groups.set(rowLength, [s]);
  }
  return groups;
}

/** The next power of two; for longer rows the next eighth of it. */
function paddedLength(length: number): number {
  const octave = 2 ** Math.ceil(Math.log2(length));
  if (length <= SHORT_TOKENS) return Math.max(LEAST_TOKENS, octave);
  return (octave / 8) * Math.ceil(length / (octave / 8));
}

/** [R·Q] columns of the queries of each row; null if gathering them would save too little. */
function selectColumns(
  offsets: Int32Array,
  rowLength: number,
  members: readonly number[],
  isQuery: (cell: number) => boolean,
): Int32Array | null {
  const columnsOf = members.map((s) => {
    const columns: number[] = [];
    for (let cell = offsets[s]; cell < offsets[s + 1]; cell++)
      if (isQuery(cell)) columns.push(cell - offsets[s]);
    return columns;
  });
  const width = Math.max(...columnsOf.map((columns) => columns.length));
  if (2 * width >= rowLength) return null;
  const columns = new Int32Array(members.length * width);
  columnsOf.forEach((row, r) => {
    columns.set(row, r * width);
  });
  return columns;
}
