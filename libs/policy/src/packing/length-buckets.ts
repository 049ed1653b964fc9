/**
 * Sequences of a pack grouped by length, for attention by products of whole matrices: rows of one bucket are padded to its
 * length, so that attention costs little more than Σ length². How far a sequence is padded follows from its own length alone,
 * or the order in which sums over it are rounded would depend on the sequences beside it.
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
  /** [N] where each cell stands among the rows of all buckets, one bucket after the other. */
  readonly rowOfCell: Int32Array;
  /** [M] where each query stands among the queries of all buckets. */
  readonly rowOfQuery: Int32Array;
  /** [Σ R·Q] the query that stands there, or M where padded. */
  readonly queryOfRow: Int32Array;
  /** [N] the query that each cell is, or M if it is none. */
  readonly queryOfCell: Int32Array;
}

/** Up to here lengths are padded to powers of two: attention over short rows costs little, another bucket costs more. */
const SHORT_TOKENS = 32;
/** No row is shorter. */
const LEAST_TOKENS = 8;

/** @param queries [M] cells, rising; null: all of them */
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
      // Padding repeats column 0, whose own place comes first.
      const isPadding = query === numQueries || (column === 0 && i % width > 0);
      if (!isPadding) rowOfQuery[query] = queryOfRow.length;
      queryOfRow.push(isPadding ? numQueries : query);
    }
    buckets.push({ numRows: members.length, rowLength, numQueries: width, cells, queryColumns });
  }
  return { buckets, rowOfCell, rowOfQuery, queryOfRow: Int32Array.from(queryOfRow), queryOfCell };
}

/** Sequences with tokens, in their order, by the length that they are padded to. */
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

/** The next power of two, or for longer ones the next of four steps to it. */
function paddedLength(length: number): number {
  const octave = 2 ** Math.ceil(Math.log2(length));
  if (length <= SHORT_TOKENS) return Math.max(LEAST_TOKENS, octave);
  return (octave / 8) * Math.ceil(length / (octave / 8));
}

/** [R·Q] columns of the queries of each row; null where picking them out of all columns would save too little. */
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
