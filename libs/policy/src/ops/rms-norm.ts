import * as tf from '@tensorflow/tfjs-core';
import { columnSum } from './column-sum.js';
import { withGradient } from './with-gradient.js';

/**
 * Root-mean-square norm of the rows of x [N, H]: y = w·x/√(mean(x²) + ε) (arXiv:1910.07467), one node of the tape.
 *
 * With n = x/√(mean(x²) + ε) and g = w·dy: dx = (g − n·mean(g·n))/√(mean(x²) + ε) and dw = Σ dy·n.
 */
export function rmsNorm(x_NH: tf.Tensor, weight_H: tf.Tensor, epsilon: number): tf.Tensor {
  const forward = () => {
    const inverse_N1 = tf.rsqrt(tf.add(tf.mean(tf.square(x_NH), 1, true), epsilon));
    const normed_NH = tf.mul(x_NH, inverse_N1);
    return { value: tf.mul(normed_NH, weight_H), saved: [normed_NH, inverse_N1, weight_H] };
  };
  const backward = (dy_NH: tf.Tensor, [normed, inverse, weight]: tf.Tensor[]) => {
    const product_NH = tf.mul(dy_NH, normed);
    // mean(g·n) is a product of the matrix dy·n, which dw needs anyway, with the vector w/H.
    const mean_N1 = tf.matMul(product_NH, tf.reshape(tf.div(weight, weight.size), [-1, 1]));
    const dx = tf.mul(tf.sub(tf.mul(dy_NH, weight), tf.mul(normed, mean_N1)), inverse);
    return [dx, columnSum(product_NH)];
  };
  return withGradient([x_NH, weight_H], forward, backward);
}
