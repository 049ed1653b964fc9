import type * as tf from '@tensorflow/tfjs-core';

/** A term of the loss for each token, and its derivative by the quantity it is a function of. Both [M]. */
export interface TokenTerm {
  readonly value: tf.Tensor;
  readonly slope: tf.Tensor;
}
