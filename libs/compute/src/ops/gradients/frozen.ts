import type * as tf from '../../tensorflow.js';

const frozen = new WeakSet<tf.Tensor>();

/**
 * Marks a tensor as one that nothing is differentiated by, such as a base weight under adapters. Ops leave its gradient out.
 */
export function freeze(tensor: tf.Tensor): tf.Tensor {
  frozen.add(tensor);
  return tensor;
}

export function isFrozen(tensor: tf.Tensor): boolean {
  return frozen.has(tensor);
}
