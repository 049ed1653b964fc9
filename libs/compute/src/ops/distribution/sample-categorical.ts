import * as tf from '../../tensorflow.js';

/** Largest float32 below 1. */
const BELOW_ONE = 1 - 2 ** -24;

/**
 * One id a row by inverse CDF: the first v with Σ_{i ≤ v} p_i > u·Σ p, for probabilities p [B, V] that need not add up
 * to 1 exactly and uniform numbers u [B, 1] in [0, 1]. Returns int32 [B].
 *
 * Never returns an id of probability 0, however sums are rounded: u·Σ p is kept below Σ p, and only ids with p > 0 count. A
 * row with a NaN gives 0. Sums are float32: over 150,000 terms their relative error is below 1e-4.
 */
export function sampleCategorical(probabilities_BV: tf.Tensor, uniforms_B1: tf.Tensor): tf.Tensor {
  return tf.tidy(() => {
    const [numRows, numIds] = probabilities_BV.shape;
    const cumulative_BV = tf.cumsum(probabilities_BV, 1);
    const total_B1 = tf.slice(cumulative_BV, [0, numIds - 1], [numRows, 1]);
    const threshold_B1 = tf.mul(total_B1, tf.minimum(uniforms_B1, BELOW_ONE));
    const reached_BV = tf.logicalAnd(
      tf.greater(cumulative_BV, threshold_B1),
      tf.greater(probabilities_BV, 0),
    );
    return tf.argMax(tf.cast(reached_BV, 'float32'), 1);
  });
}
