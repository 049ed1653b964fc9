import * as tf from '@tensorflow/tfjs-core';
import { withGradient } from './with-gradient.js';

/**
 * Rows `ids` of table [V, H]: [N, H]. An id outside 0 … V−1 is the caller's mistake: backends differ in what they do.
 *
 * The gradient adds the rows of dy by id, in their order, so that it is the same number every time.
 */
export function lookup(ids: Int32Array, table_VH: tf.Tensor): tf.Tensor {
  const forward = () => ({ value: tf.gather(table_VH, tf.tensor1d(ids, 'int32')), saved: [] });
  const backward = (dy_NH: tf.Tensor) => [sumRowsById(dy_NH, ids, table_VH.shape[0])];
  return withGradient([table_VH], forward, backward);
}

/** Row v is the sum of the rows n of x [N, H] with ids[n] = v: [numIds, H]. Not differentiable. */
export function sumRowsById(x_NH: tf.Tensor, ids: Int32Array, numIds: number): tf.Tensor {
  return tf.unsortedSegmentSum(x_NH, tf.tensor1d(ids, 'int32'), numIds);
}
