import * as tf from '../../tensorflow.js';
import { hasNativeOps, nativeOp } from '../kernels/native-op.js';
import { rawOp, runsTensorflow } from '../kernels/raw-op.js';
import { withGradient } from '../gradients/with-gradient.js';

/**
 * silu(gate)·up (arXiv:2002.05202), elementwise; silu(z) = z·σ(z). One node of the tape, by
 * silu'(z) = σ(z) + z·σ(z)·(1 − σ(z)).
 */
export function swiGlu(gate: tf.Tensor, up: tf.Tensor): tf.Tensor {
  return hasNativeOps() ? nativeSwiGlu(gate, up) : composedSwiGlu(gate, up);
}

function nativeSwiGlu(gate: tf.Tensor, up: tf.Tensor): tf.Tensor {
  const forward = () => ({ value: nativeOp('RetraceSwiGlu', [gate, up])[0], saved: [gate, up] });
  const backward = (dy: tf.Tensor, saved: tf.Tensor[]) => nativeOp('RetraceSwiGluGradient', [dy, ...saved]);
  return withGradient([gate, up], forward, backward);
}

function composedSwiGlu(gate: tf.Tensor, up: tf.Tensor): tf.Tensor {
  const forward = () => {
    const sigmoid = tf.sigmoid(gate);
    const silu = tf.mul(gate, sigmoid);
    return { value: tf.mul(silu, up), saved: [up, sigmoid, silu, gate] };
  };
  const backward = (dy: tf.Tensor, [up, sigmoid, silu, gate]: tf.Tensor[]) => {
    const slope = tf.add(sigmoid, sigmoidGradient(sigmoid, silu, gate));
    return [tf.mul(tf.mul(dy, up), slope), tf.mul(dy, silu)];
  };
  return withGradient([gate, up], forward, backward);
}

/** z·σ(z)·(1 − σ(z)); TensorFlow's own op takes one pass. */
function sigmoidGradient(sigmoid: tf.Tensor, silu: tf.Tensor, gate: tf.Tensor): tf.Tensor {
  if (runsTensorflow()) return rawOp('SigmoidGrad', [sigmoid, gate], { T: { type: 'float32' } });
  return tf.mul(silu, tf.sub(1, sigmoid));
}
