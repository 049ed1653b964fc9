import * as tf from '../../tensorflow.js';
import { isFrozen } from './frozen.js';
import { withGradient } from './with-gradient.js';

/**
 * f(x) as one node of the gradient tape, which keeps only x. The intermediate tensors of f are freed and computed again
 * for the gradient (gradient checkpointing, arXiv:1604.06174). Gives the bits of f itself where f's ops are deterministic.
 *
 * @param parameters the other tensors that f is differentiated by; frozen ones are left out. They must outlive the tape.
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

/** Restores the engine's only tape, which the outer gradient still needs. */
function onTapeOfItsOwn<Result>(differentiate: () => Result): Result {
  const { state } = tf.engine();
  const outer = state.activeTape;
  try {
    return differentiate();
  } finally {
    state.activeTape = outer;
  }
}
