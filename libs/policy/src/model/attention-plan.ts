/**
 * The description of a pack that attention reads, on the device; every layer uses the same one.
 *
 * Legend: N cells · M queries · W width of the joined projections · R rows, L columns, Q query columns of a bucket.
 */
import * as tf from '@retrace/compute/tensorflow';
import { fusesAttention } from '@retrace/compute';
import { bucketByLength } from '../packing/length-buckets.js';
import type { LengthBucket } from '../packing/length-buckets.js';
import { attentionBias } from './attention-weights.js';
import type { RotaryTable } from './rotary.js';

/** A plan for the fused op, or for products of whole matrices, bucket by bucket. */
export type AttentionPlan = FusedPlan | BucketedPlan;

export interface FusedPlan {
  readonly kind: 'fused';
  /** [P, W] rotary factors by position. */
  readonly factors: tf.Tensor;
  readonly offsets: tf.Tensor;
  /** [M]; null if all cells are queries. */
  readonly queries: tf.Tensor | null;
}

export interface BucketedPlan {
  readonly kind: 'bucketed';
  /** [N, W] rotary factors of each cell. */
  readonly factors: tf.Tensor;
  readonly buckets: readonly BucketPlan[];
  /** [N], [M], [Σ R·Q], [N] of `BucketedSequences`; null if it is the identity. */
  readonly rowOfCell: tf.Tensor | null;
  readonly rowOfQuery: tf.Tensor | null;
  readonly queryOfRow: tf.Tensor | null;
  readonly queryOfCell: tf.Tensor | null;
}

export interface BucketPlan {
  readonly numRows: number;
  readonly rowLength: number;
  readonly numQueries: number;
  /** [R·L]; null if they are all cells, in order. */
  readonly cells: tf.Tensor | null;
  /** [R·Q] cells that are queries; null if all of `cells` are. */
  readonly queryCells: tf.Tensor | null;
  /** [R or 1, 1, Q, L] added to the scores; null if every query sees every key. */
  readonly bias: tf.Tensor | null;
}

/** @param queries [M] cells, ascending; null: all of them */
export function planAttention(
  rotary: RotaryTable,
  offsets: Int32Array,
  queries: Int32Array | null,
): AttentionPlan {
  let longest = 0;
  for (let s = 0; s + 1 < offsets.length; s++) longest = Math.max(longest, offsets[s + 1] - offsets[s]);
  const factors = rotary.upTo(longest);
  if (fusesAttention()) {
    return {
      kind: 'fused',
      factors,
      offsets: tf.tensor1d(offsets, 'int32'),
      queries: queries === null ? null : tf.tensor1d(queries, 'int32'),
    };
  }
  const numCells = offsets[offsets.length - 1];
  const numQueries = queries?.length ?? numCells;
  const sequences = bucketByLength(offsets, queries);
  const numRowCells = sequences.buckets.reduce((sum, { cells }) => sum + cells.length, 0);
  return {
    kind: 'bucketed',
    factors: tf.gather(factors, tf.tensor1d(computePositions(offsets), 'int32')),
    buckets: sequences.buckets.map((bucket) => planBucket(bucket, numCells)),
    rowOfCell: indices(sequences.rowOfCell, numRowCells),
    rowOfQuery: indices(sequences.rowOfQuery, sequences.queryOfRow.length),
    queryOfRow: indices(sequences.queryOfRow, numQueries),
    queryOfCell: indices(sequences.queryOfCell, numQueries),
  };
}

function planBucket(bucket: LengthBucket, numCells: number): BucketPlan {
  const { numRows, rowLength, numQueries, cells, queryColumns } = bucket;
  const shared = { numRows, rowLength, numQueries, cells: indices(cells, numCells) };
  if (queryColumns === null) {
    const columns = tf.expandDims(tf.range(0, rowLength, 1, 'int32'), 0);
    return { ...shared, queryCells: null, bias: attentionBias(columns, rowLength) };
  }
  const queryCells = queryColumns.map((column, i) => cells[Math.floor(i / numQueries) * rowLength + column]);
  const columns = tf.tensor2d(queryColumns, [numRows, numQueries], 'int32');
  return {
    ...shared,
    queryCells: tf.tensor1d(queryCells, 'int32'),
    bias: queryColumns.every((column) => column === rowLength - 1) ? null : attentionBias(columns, rowLength),
  };
}

/** [N] the position of each cell in its sequence. */
function computePositions(offsets: Int32Array): Int32Array {
  const positions = new Int32Array(offsets[offsets.length - 1]);
  for (let s = 0; s + 1 < offsets.length; s++) {
    for (let cell = offsets[s]; cell < offsets[s + 1]; cell++) positions[cell] = cell - offsets[s];
  }
  return positions;
}

/** A tensor of indices into `length` rows; null if they are the identity. */
function indices(values: Int32Array, length: number): tf.Tensor | null {
  const isIdentity = values.length === length && values.every((value, i) => value === i);
  return isIdentity ? null : tf.tensor1d(values, 'int32');
}
