/**
 * Sums and means over the sequences of ragged columns, spread over their tokens again. Tokens of weight 0 are left out of them.
 *
 * Legend: N action tokens · S sequences.
 */
import * as tf from '@retrace/compute/tensorflow';
import type { TensorLossInput } from './tensor-loss.js';

/** Σ of x over the weighted tokens of each sequence, at each of its tokens `[N]`. */
export function sequenceSums({ offsets, weights }: TensorLossInput, x_N: tf.Tensor): tf.Tensor {
  const sequences_N = sequenceOfToken(offsets);
  const counted_N = tf.cast(tf.notEqual(weights, 0), 'float32');
  const sums_S = tf.unsortedSegmentSum(tf.mul(x_N, counted_N), sequences_N, offsets.length - 1);
  return tf.gather(sums_S, sequences_N);
}

/** Mean of x over the weighted tokens of each sequence, at each of its tokens `[N]`; 0 in sequences without one. */
export function sequenceMeans(input: TensorLossInput, x_N: tf.Tensor): tf.Tensor {
  const numCounted_N = sequenceSums(input, tf.onesLike(x_N));
  return tf.div(sequenceSums(input, x_N), tf.maximum(numCounted_N, 1));
}

function sequenceOfToken(offsets: Int32Array): tf.Tensor1D {
  const sequences = new Int32Array(offsets[offsets.length - 1]);
  for (let s = 0; s + 1 < offsets.length; s++) sequences.fill(s, offsets[s], offsets[s + 1]);
  return tf.tensor1d(sequences, 'int32');
}
