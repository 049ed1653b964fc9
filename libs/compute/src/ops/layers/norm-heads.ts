import * as tf from '../../tensorflow.js';
import { rmsNorm } from './rms-norm.js';

/**
 * RMS norm of each head of x [N, H·D], times the weight of its columns [H·D]: the norm of queries and keys before their
 * rotation.
 */
export function normHeads(x_NW: tf.Tensor, weight_W: tf.Tensor, headDim: number, epsilon: number): tf.Tensor {
  const normed = rmsNorm(tf.reshape(x_NW, [-1, headDim]), epsilon);
  return tf.mul(tf.reshape(normed, x_NW.shape), weight_W);
}
