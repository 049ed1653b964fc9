import * as tf from '@tensorflow/tfjs-core';
import { isFrozen } from './frozen.js';
import { withGradient } from './with-gradient.js';

/**
 * f(x) as one node of the gradient tape that keeps x alone: what f makes on its way is freed, and made again for the
 * gradient (gradient checkpointing, arXiv:1604.06174). The same numbers as f itself, bit for bit where f's ops give
 * equal bits for equal inputs.
 *
 * @param parameters what f reads besides and the gradient is wanted of; frozen ones are left out. They must outlive the tape.
 */
export function recomputed(
  x: tf.Tensor,
  parameters: readonly tf.Tensor[],
  f: (x: tf.Tensor) => tf.Tensor,
): tf.Tensor {
  const trained = parameters.filter((parameter) => !isFrozen(parameter));
  const forward = () => ({ value: f(x), saved: [x] });
  const backward = (dy: tf.Tensor, [saved]: tf.Tensor[]) =>
    onTapeOfItsOwn(() => {
      if (!isFrozen(x)) return tf.grads(() => f(saved))([saved, ...trained], dy);
      return [null, ...tf.grads(() => f(saved))(trained, dy)];
    });
  return withGradient([x, ...trained], forward, backward);
}

/** The engine has one tape, which the gradient that is being taken still needs. */
function onTapeOfItsOwn<Result>(differentiate: () => Result): Result {
  const { state } = tf.engine();
  const outer = state.activeTape;
  try {
    return differentiate();
  } finally {
    state.activeTape = outer;
  }
}
