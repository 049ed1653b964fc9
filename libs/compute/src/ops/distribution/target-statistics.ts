/**
 * Log probability of a chosen id, and entropy, of softmax(z/temperature) for rows of logits z.
 *
 * Legend: M rows · V vocabulary.
 */
import * as tf from '../../tensorflow.js';
import { logSoftmax } from './log-softmax.js';
import { hasNativeOps, nativeOp } from '../kernels/native-op.js';

export interface TargetStatistics {
  /** [2, M]: log p of each target, and −Σ p log p, in nats. */
  readonly value: tf.Tensor;
  /** [M, V] for `targetStatisticsGradient`. */
  readonly state: tf.Tensor;
}

/** Not differentiable. Targets are ids 0 … V−1, one a row. */
export function targetStatistics(
  logits_MV: tf.Tensor,
  targets: Int32Array,
  temperature: number,
): TargetStatistics {
  if (hasNativeOps()) {
    const inputs = [logits_MV, tf.tensor1d(targets, 'int32'), tf.scalar(1 / temperature)];
    return { value: nativeOp('RetraceTokenDistribution', inputs)[0], state: logits_MV };
  }
  const logp_MV = logSoftmax(temperature === 1 ? logits_MV : tf.div(logits_MV, temperature));
  const entropy_M = tf.neg(tf.sum(tf.mul(tf.exp(logp_MV), logp_MV), 1));
  return { value: tf.stack([pick(logp_MV, targets), entropy_M]), state: logp_MV };
}

/**
 * The gradient by the logits for dy [2, M], by ∂log p_t/∂z = (1[t] − p)/temperature and
 * ∂H/∂z = −p(log p + H)/temperature: [M, V].
 */
export function targetStatisticsGradient(
  dy_2M: tf.Tensor,
  { value, state }: TargetStatistics,
  targets: Int32Array,
  temperature: number,
): tf.Tensor {
  if (hasNativeOps()) {
    const inputs = [dy_2M, state, tf.tensor1d(targets, 'int32'), tf.scalar(1 / temperature)];
    return nativeOp('RetraceTokenDistributionGradient', inputs)[0];
  }
  const [dChosen_M1, dEntropy_M1] = tf.split(dy_2M, 2, 0).map((row) => tf.reshape(row, [-1, 1]));
  const entropy_M1 = tf.reshape(tf.slice(value, [1, 0], [1, targets.length]), [-1, 1]);
  const surprise_MV = tf.mul(dEntropy_M1, tf.add(state, entropy_M1));
  const spread_MV = tf.mul(tf.exp(state), tf.add(surprise_MV, dChosen_M1));
  const vocabSize = state.size / targets.length;
  const oneHot_MV = tf.oneHot(tf.tensor1d(targets, 'int32'), vocabSize, 1, 0, 'float32');
  const dLogits_MV = tf.sub(tf.mul(oneHot_MV, dChosen_M1), spread_MV);
  return temperature === 1 ? dLogits_MV : tf.div(dLogits_MV, temperature);
}

/** Element `targets[m]` of row m. */
function pick(x_MV: tf.Tensor, targets: Int32Array): tf.Tensor {
  const vocabSize = x_MV.size / targets.length;
  const indices = targets.map((target, row) => row * vocabSize + target);
  return tf.gather(tf.reshape(x_MV, [-1]), tf.tensor1d(indices, 'int32'));
}
