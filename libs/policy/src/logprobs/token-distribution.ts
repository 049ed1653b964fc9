/**
 * Log probability and entropy of the LM head at chosen hidden states.
 *
 * Legend: M hidden states · h hidden size · V vocabulary.
 */
import * as tf from '@tensorflow/tfjs-core';
import { matMul } from '@retrace/compute';
import { targetStatistics, targetStatisticsGradient } from '@retrace/compute';
import { withGradient } from '@retrace/compute';
import type { Backward } from '@retrace/compute';

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
  const logitsOf = (hidden: tf.Tensor, head: tf.Tensor) => matMul(hidden, head, { transposeB: true });
  const forward = () => {
    const { value, state } = targetStatistics(logitsOf(hidden_MH, head_VH), targets, temperature);
    const saved = recompute ? [hidden_MH, head_VH] : [hidden_MH, head_VH, value, state];
    return { value, saved };
  };
  const backward: Backward = (dy_2M, [hidden, head, value, state], [wantsHidden, wantsHead]) => {
    const statistics = recompute
      ? targetStatistics(logitsOf(hidden, head), targets, temperature)
      : { value, state };
    const dLogits = targetStatisticsGradient(dy_2M, statistics, targets, temperature);
    return [
      wantsHidden ? matMul(dLogits, head) : null,
      wantsHead ? matMul(dLogits, hidden, { transposeA: true }) : null,
    ];
  };
  return withGradient([hidden_MH, head_VH], forward, backward);
}
