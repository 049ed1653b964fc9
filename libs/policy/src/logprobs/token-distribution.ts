/**
 * The LM head's distribution at chosen hidden states.
 *
 * Legend: M hidden states · h hidden size · V vocabulary.
 */
import * as tf from '@retrace/compute/tensorflow';
import { matMul, targetStatistics, targetStatisticsGradient, withGradient } from '@retrace/compute';
import type { Backward } from '@retrace/compute';

/** Most logits of one chunk: 64 MiB of float32. */
export const MAX_LOGITS = 2 ** 24;

export interface DistributionOptions {
  readonly temperature: number;
  /** Most logits of one chunk, in elements (default `MAX_LOGITS`). */
  readonly maxLogits?: number;
}

/**
 * Computes log probability and entropy of tokens: for z = hidden·headᵀ/temperature and p = softmax(z): row 0 of the result is log p of each target, row 1 the
 * entropy −Σ p log p, in nats. Shape [2, M]; differentiable by hidden and head.
 *
 * Computed in chunks; with more than one, the gradient computes their logits again, so that [M, V] never exists whole.
 */
export function tokenDistribution(
  hidden_MH: tf.Tensor,
  head_VH: tf.Tensor,
  targets: Int32Array,
  { temperature, maxLogits = MAX_LOGITS }: DistributionOptions,
): tf.Tensor {
  const chunkRows = rowsOfChunk(head_VH, maxLogits);
  if (targets.length <= chunkRows) {
    return chunkDistribution(hidden_MH, head_VH, targets, { temperature, recompute: false });
  }
  const chunks = splitRows(hidden_MH, chunkRows).map((chunk, i) => {
    const chunkTargets = targets.subarray(i * chunkRows, (i + 1) * chunkRows);
    return chunkDistribution(chunk, head_VH, chunkTargets, { temperature, recompute: true });
  });
  return tf.concat(chunks, 1);
}

/**
 * Σ_v p_v² for p = softmax(hidden·headᵀ/temperature), which says how concentrated the distribution is: [M], in (0, 1].
 * Without a gradient; computed in chunks.
 */
export function squaredProbabilities(
  hidden_MH: tf.Tensor,
  head_VH: tf.Tensor,
  temperature: number,
): tf.Tensor {
  const chunks = splitRows(hidden_MH, rowsOfChunk(head_VH, MAX_LOGITS)).map((chunk) =>
    tf.tidy(() => {
      const logits_MV = tf.div(matMul(chunk, head_VH, { transposeB: true }), temperature);
      return tf.sum(tf.square(tf.softmax(logits_MV)), 1);
    }),
  );
  return tf.concat(chunks);
}

function rowsOfChunk(head_VH: tf.Tensor, maxLogits: number): number {
  return Math.max(1, Math.floor(maxLogits / head_VH.shape[0]));
}

function splitRows(x: tf.Tensor, chunkRows: number): tf.Tensor[] {
  const [numRows] = x.shape;
  const sizes: number[] = [];
  for (let start = 0; start < numRows; start += chunkRows) sizes.push(Math.min(chunkRows, numRows - start));
  return tf.split(x, sizes, 0);
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
