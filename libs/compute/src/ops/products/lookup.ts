import * as tf from '../../tensorflow.js';
import { matMul } from './mat-mul.js';
import { withGradient } from '../gradients/with-gradient.js';

/** Up to this vocabulary size a product with one-hot rows is faster than adding rows one by one. */
const MAX_ONE_HOT_IDS = 128;

/**
 * Rows `ids` of table [V, H]: [N, H]. Ids must be in 0 … V−1; on others, backends differ.
 *
 * The gradient adds the rows of dy by id, always in the same order, so equal inputs give equal bits.
 */
export function lookup(ids: Int32Array, table_VH: tf.Tensor): tf.Tensor {
  const forward = () => ({ value: tf.gather(table_VH, tf.tensor1d(ids, 'int32')), saved: [] });
  const backward = (dy_NH: tf.Tensor) => [sumRowsById(dy_NH, ids, table_VH.shape[0])];
  return withGradient([table_VH], forward, backward);
}

/** Row v is the sum of the rows n of x [N, H] with ids[n] = v: [numIds, H]. Not differentiable. */
export function sumRowsById(x_NH: tf.Tensor, ids: Int32Array, numIds: number): tf.Tensor {
  const ids_N = tf.tensor1d(ids, 'int32');
  if (numIds > MAX_ONE_HOT_IDS) return tf.unsortedSegmentSum(x_NH, ids_N, numIds);
  return matMul(tf.oneHot(ids_N, numIds, 1, 0, 'float32'), x_NH, { transposeA: true });
}
