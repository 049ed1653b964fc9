/**
 * Log probability and entropy of the LM head at chosen hidden states.
 *
 * Legend: M hidden states · h hidden size · V vocabulary.
 */
import * as tf from '@tensorflow/tfjs-core';
import { logSoftmax } from '../ops/log-softmax.js';
import { matMul } from '../ops/mat-mul.js';
import { withGradient } from '../ops/with-gradient.js';

export interface DistributionOptions {
  readonly temperature: number;
  /** Most logits of one chunk, in elements (default 64 MiB of float32). */
  readonly maxLogits?: number;
}

/**
 * For z = hidden·headᵀ/temperature and p = softmax(z): row 0 of the result is log p of each target, row 1 the
 * entropy −Σ p log p, in nats. Shape [2, M]; differentiable by hidden and head.
 *
 * Computed in chunks; with more than one, the gradient computes their logits again, so that [M, V] never exists whole.
 */
export function tokenDistribution(
  hidden_MH: tf.Tensor,
  head_VH: tf.Tensor,
  targets: Int32Array,
  { temperature, maxLogits = 2 ** 24 }: DistributionOptions,
): tf.Tensor {
  const numRows = targets.length;
  const [vocabSize] = head_VH.shape;
  const chunkRows = Math.max(1, Math.floor(maxLogits / vocabSize));
  if (numRows <= chunkRows) {
    return chunkDistribution(hidden_MH, head_VH, targets, { temperature, recompute: false });
  }
  const sizes: number[] = [];
  for (let start = 0; start < numRows; start += chunkRows) sizes.push(Math.min(chunkRows, numRows - start));
  const chunks = tf.split(hidden_MH, sizes, 0).map((chunk, i) => {
    const chunkTargets = targets.subarray(i * chunkRows, i * chunkRows + sizes[i]);
    return chunkDistribution(chunk, head_VH, chunkTargets, { temperature, recompute: true });
  });
  return tf.concat(chunks, 1);
}

interface ChunkOptions {
  readonly temperature: number;
  /** Compute the logits again for the gradient instead of keeping them. */
  readonly recompute: boolean;
}

function chunkDistribution(
  hidden_MH: tf.Tensor,
  head_VH: tf.Tensor,
  targets: Int32Array,
  { temperature, recompute }: ChunkOptions,
): tf.Tensor {
  const forward = () => {
    const logp_MV = logProbabilities(hidden_MH, head_VH, temperature);
    const chosen_M = pick(logp_MV, targets);
    const entropy_M = tf.neg(tf.sum(tf.mul(tf.exp(logp_MV), logp_MV), 1));
    const saved = recompute ? [hidden_MH, head_VH, entropy_M] : [hidden_MH, head_VH, entropy_M, logp_MV];
    return { value: tf.stack([chosen_M, entropy_M]), saved };
  };
  const backward = (dy_2M: tf.Tensor, saved: tf.Tensor[]) => {
    const [hidden, head, entropy] = saved as [tf.Tensor, tf.Tensor, tf.Tensor];
    const logp = recompute ? logProbabilities(hidden, head, temperature) : saved[3];
    const [dChosen, dEntropy] = tf.split(dy_2M, 2, 0).map((row) => tf.reshape(row, [-1, 1]));
    // ∂log p_t/∂z = 1[t] − p and ∂H/∂z = −p(log p + H).
    const surprise = tf.mul(dEntropy, tf.add(logp, tf.expandDims(entropy, 1)));
    const spread = tf.mul(tf.exp(logp), tf.add(surprise, dChosen));
    const dz = tf.sub(tf.mul(oneHot(targets, head.shape[0]), dChosen), spread);
    const dLogits = temperature === 1 ? dz : tf.div(dz, temperature);
    return [matMul(dLogits, head), matMul(dLogits, hidden, { transposeA: true })];
  };
  return withGradient([hidden_MH, head_VH], forward, backward);
}

function logProbabilities(hidden: tf.Tensor, head: tf.Tensor, temperature: number): tf.Tensor {
  const logits = matMul(hidden, head, { transposeB: true });
  return logSoftmax(temperature === 1 ? logits : tf.div(logits, temperature));
}

/** Element `targets[m]` of row m. */
function pick(x_MV: tf.Tensor, targets: Int32Array): tf.Tensor {
  const vocabSize = x_MV.size / targets.length;
  const indices = targets.map((target, row) => row * vocabSize + target);
  return tf.gather(tf.reshape(x_MV, [-1]), tf.tensor1d(indices, 'int32'));
}

function oneHot(targets: Int32Array, depth: number): tf.Tensor {
  return tf.oneHot(tf.tensor1d(targets, 'int32'), depth, 1, 0, 'float32');
}
