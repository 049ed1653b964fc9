import * as tf from '../../tensorflow.js';
import { rawOp, runsTensorflow } from '../kernels/raw-op.js';
import { withGradient } from '../gradients/with-gradient.js';

/** log softmax of the rows of z [M, V]; with gradient dz = dy − p·Σ dy. */
export function logSoftmax(logits_MV: tf.Tensor): tf.Tensor {
  const forward = () => {
    const value = runsTensorflow()
      ? rawOp('LogSoftmax', [logits_MV], { T: { type: 'float32' } })
      : tf.logSoftmax(logits_MV);
    return { value, saved: [value] };
  };
  const backward = (dy: tf.Tensor, [logp]: tf.Tensor[]) => [
    tf.sub(dy, tf.mul(tf.exp(logp), tf.sum(dy, 1, true))),
  ];
  return withGradient([logits_MV], forward, backward);
}
