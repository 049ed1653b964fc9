import * as tf from '@tensorflow/tfjs-core';
import { withGradient } from './with-gradient.js';

/** What `compute` makes of these tensors, a constant for whoever differentiates; `compute` may take ops that have no gradient. */
export function constantOf(inputs: readonly tf.Tensor[], compute: () => tf.Tensor): tf.Tensor {
  const forward = () => ({ value: compute(), saved: [] });
  return withGradient(inputs, forward, () => inputs.map((input) => tf.zerosLike(input)));
}

/** The same numbers as x as a constant: sg[x]. */
export function stopGradient(x: tf.Tensor): tf.Tensor {
  return constantOf([x], () => tf.clone(x));
}
