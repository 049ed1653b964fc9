import * as tf from '../../tensorflow.js';
import { withGradient } from './with-gradient.js';

/** The result of `compute`, as a constant when these inputs are differentiated; its ops need no gradients. */
export function makeConstant(inputs: readonly tf.Tensor[], compute: () => tf.Tensor): tf.Tensor {
  const forward = () => ({ value: compute(), saved: [] });
  return withGradient(inputs, forward, () => inputs.map((input) => tf.zerosLike(input)));
}

/** sg[x]: the numbers of x, as a constant. */
export function stopGradient(x: tf.Tensor): tf.Tensor {
  return makeConstant([x], () => tf.clone(x));
}
