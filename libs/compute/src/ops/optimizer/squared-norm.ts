import * as tf from '../../tensorflow.js';
import { rawOp, runsTensorflow } from '../kernels/raw-op.js';

/** Σ x² over all elements, a scalar; 0 for none. Not differentiable. TensorFlow's own op stores no squares. */
export function squaredNorm(x: tf.Tensor): tf.Tensor {
  if (!runsTensorflow()) return tf.sum(tf.square(x));
  return tf.mul(rawOp('L2Loss', [x], { T: { type: 'float32' } }), 2);
}
