import type * as tf from '@tensorflow/tfjs-core';

const frozen = new WeakSet<tf.Tensor>();

/**
 * Says that nothing will be differentiated by this tensor (base weights under adapters, and what is computed of them alone): ops
 * leave that gradient out.
 */
export function freeze(tensor: tf.Tensor): tf.Tensor {
  frozen.add(tensor);
  return tensor;
}

export function isFrozen(tensor: tf.Tensor): boolean {
  return frozen.has(tensor);
}
