import * as tf from '@tensorflow/tfjs-core';
import { rawOp, runsTensorflow } from './raw-op.js';
import { withGradient } from './with-gradient.js';

/**
 * silu(gate)·up (arXiv:2002.05202) of the joined projections [N, 2F], gate first: [N, F]; silu(z) = z·σ(z). One node
 * of the tape, by silu'(z) = σ(z) + z·σ(z)·(1 − σ(z)).
 */
export function swiGlu(gateUp_N2F: tf.Tensor): tf.Tensor {
  const forward = () => {
    const [gate, up] = tf.split(gateUp_N2F, 2, 1);
    const sigmoid = tf.sigmoid(gate);
    const silu = tf.mul(gate, sigmoid);
    return { value: tf.mul(silu, up), saved: [up, sigmoid, silu, gate] };
  };
  const backward = (dy: tf.Tensor, [up, sigmoid, silu, gate]: tf.Tensor[]) => {
    const slope = tf.add(sigmoid, sigmoidGradient(sigmoid, silu, gate));
    return [tf.concat([tf.mul(tf.mul(dy, up), slope), tf.mul(dy, silu)], 1)];
  };
  return withGradient([gateUp_N2F], forward, backward);
}

/** z·σ(z)·(1 − σ(z)), which TensorFlow has in one pass. */
function sigmoidGradient(sigmoid: tf.Tensor, silu: tf.Tensor, gate: tf.Tensor): tf.Tensor {
  if (runsTensorflow()) return rawOp('SigmoidGrad', [sigmoid, gate], { T: { type: 'float32' } });
  return tf.mul(silu, tf.sub(1, sigmoid));
}
