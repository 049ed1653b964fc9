import type { SequenceBatch } from './sequence-batch.js';

/**
 * Sequences laid into equally long rows: the only place where tokens are padded.
 *
 * A position is *read* if the caller needs the final hidden state there. Sequences without a read, and the
 * tokens after a sequence's last read, influence nothing that is read (attention is causal), so they are left out.
 *
 * Legend: B rows · T columns a row · Q query columns a row in the last layer · M reads.
 */
export interface RowLayout {
  readonly numRows: number;
  readonly rowLength: number;
  /** [B·T]; 0 where padded. */
  readonly tokenIds: Int32Array;
  /** [B·T] number of the sequence inside its row, −1 where padded; null if every row holds one sequence. */
  readonly segmentIds: Int32Array | null;
  /** Q: most reads in one row, or T where selecting columns would save too little. */
  readonly numQueries: number;
  /** [B·Q] column of each query, padded with column 0; null if Q = T (all columns, in order). */
  readonly queryColumns: Int32Array | null;
  /** [M] index into the B·Q queries; null if all of them are reads. */
  readonly readQueries: Int32Array | null;
}

/** Rows, and what of a batch of sequences is read in them. */
export interface RowBatch extends RowLayout {
  /** [M] the position in the flat batch that read m stands for, sequence by sequence. */
  readonly readPositions: Int32Array;
  /** Where each sequence's reads begin among the M, and the end of the last. */
  readonly readOffsets: Int32Array;
}

export interface RowBatchOptions {
  /** [N] 1 where the final hidden state is wanted. */
  readonly readMask: Uint8Array;
  /** Most cells (rows × columns) in one row batch; a longer sequence gets a row batch of its own. */
  readonly maxTokens: number;
}

/**
 * Splits a batch into row batches that together read every marked position exactly once.
 *
 * Longest sequences first; a row is as long as the longest sequence of its row batch, and what space is left in
 * rows is filled with the longest sequences that fit (best fit, decreasing). Equally long sequences thus get one
 * row each without padding. Deterministic; the order of the result doesn't depend on anything but the batch.
 */
export function packRows(batch: SequenceBatch, options: RowBatchOptions): RowBatch[] {
  const lengths = readLengths(batch, options.readMask);
  let remaining = Array.from(lengths.keys()).filter((s) => lengths[s] > 0);
  remaining.sort((a, b) => lengths[b] - lengths[a] || a - b);
  const rowBatches: RowBatch[] = [];
  while (remaining.length > 0) {
    const rowLength = lengths[remaining[0]];
    const maxRows = Math.max(1, Math.floor(options.maxTokens / rowLength));
    const { rows, left } = fillRows(remaining, lengths, rowLength, maxRows);
    rowBatches.push(layOut(batch, options.readMask, lengths, rows, rowLength));
    remaining = left;
  }
  return rowBatches;
}

/** [S] length of each sequence up to and including its last read; 0 if nothing of it is read. */
function readLengths({ sequenceOffsets }: SequenceBatch, readMask: Uint8Array): Int32Array {
  const lengths = new Int32Array(sequenceOffsets.length - 1);
  for (let s = 0; s < lengths.length; s++) {
    let end = sequenceOffsets[s + 1];
    while (end > sequenceOffsets[s] && readMask[end - 1] === 0) end--;
    lengths[s] = end - sequenceOffsets[s];
  }
  return lengths;
}

function fillRows(
  sequences: readonly number[],
  lengths: Int32Array,
  rowLength: number,
  maxRows: number,
): { rows: number[][]; left: number[] } {
  const rows: number[][] = [];
  const left: number[] = [];
  const rowsByRoom: number[][] = Array.from({ length: rowLength + 1 }, () => []);
  for (const s of sequences) {
    let room = lengths[s];
    while (room <= rowLength && rowsByRoom[room].length === 0) room++;
    let row: number;
    if (room <= rowLength) {
      row = rowsByRoom[room].pop() as number;
    } else if (rows.length < maxRows) {
      row = rows.push([]) - 1;
      room = rowLength;
    } else {
      left.push(s);
      continue;
    }
    rows[row].push(s);
    rowsByRoom[room - lengths[s]].push(row);
  }
  return { rows, left };
}

function layOut(
  { tokenIds, sequenceOffsets }: SequenceBatch,
  readMask: Uint8Array,
  lengths: Int32Array,
  rows: readonly number[][],
  rowLength: number,
): RowBatch {
  const rowTokens = new Int32Array(rows.length * rowLength);
  const packed = rows.some((row) => row.length > 1);
  const segmentIds = packed ? new Int32Array(rowTokens.length).fill(-1) : null;
  /** Cells that are read, row by row, and the flat position of each. */
  const cells: number[] = [];
  const positions: number[] = [];
  const offsets: number[] = [0];
  let numQueries = 0;
  rows.forEach((row, r) => {
    const numReadsBefore = cells.length;
    let cell = r * rowLength;
    row.forEach((s, segment) => {
      const start = sequenceOffsets[s];
      rowTokens.set(tokenIds.subarray(start, start + lengths[s]), cell);
      segmentIds?.fill(segment, cell, cell + lengths[s]);
      for (let n = start; n < start + lengths[s]; n++, cell++) {
        if (readMask[n] === 0) continue;
        cells.push(cell);
        positions.push(n);
      }
      offsets.push(positions.length);
    });
    numQueries = Math.max(numQueries, cells.length - numReadsBefore);
  });
  if (2 * numQueries >= rowLength) numQueries = rowLength;
  return {
    numRows: rows.length,
    rowLength,
    tokenIds: rowTokens,
    segmentIds,
    ...selectQueries(cells, rows.length, rowLength, numQueries),
    readPositions: Int32Array.from(positions),
    readOffsets: Int32Array.from(offsets),
  };
}

function selectQueries(
  cells: readonly number[],
  numRows: number,
  rowLength: number,
  numQueries: number,
): Pick<RowLayout, 'numQueries' | 'queryColumns' | 'readQueries'> {
  const allAreReads = cells.length === numRows * numQueries;
  if (numQueries === rowLength) {
    return { numQueries, queryColumns: null, readQueries: allAreReads ? null : Int32Array.from(cells) };
  }
  const queryColumns = new Int32Array(numRows * numQueries);
  const readQueries = new Int32Array(cells.length);
  let row = -1;
  let query = 0;
  cells.forEach((cell, m) => {
    const cellRow = Math.floor(cell / rowLength);
    if (cellRow !== row) {
      row = cellRow;
      query = row * numQueries;
    }
    queryColumns[query] = cell - row * rowLength;
    readQueries[m] = query++;
  });
  return { numQueries, queryColumns, readQueries: allAreReads ? null : readQueries };
}
