/**
 * How concentrated the LM head's distribution is at chosen hidden states.
 *
 * Legend: M hidden states · h hidden size · V vocabulary.
 */
import * as tf from '@tensorflow/tfjs-core';
import { matMul } from '@retrace/compute';

export interface SquaredProbabilityOptions {
  readonly temperature: number;
  /** Most logits of one chunk, in elements (default 64 MiB of float32). */
  readonly maxLogits?: number;
}

/** Σ_v p_v² for p = softmax(hidden·headᵀ/temperature): [M], in (0, 1]. Without a gradient; computed in chunks. */
export function squaredProbabilities(
  hidden_MH: tf.Tensor,
  head_VH: tf.Tensor,
  { temperature, maxLogits = 2 ** 24 }: SquaredProbabilityOptions,
): tf.Tensor {
  const [numRows] = hidden_MH.shape;
  const chunkRows = Math.max(1, Math.floor(maxLogits / head_VH.shape[0]));
  const sizes: number[] = [];
  for (let start = 0; start < numRows; start += chunkRows) sizes.push(Math.min(chunkRows, numRows - start));
  const chunks = tf.split(hidden_MH, sizes, 0).map((chunk) =>
    tf.tidy(() => {
      const logits_MV = tf.div(matMul(chunk, head_VH, { transposeB: true }), temperature);
      const p_MV = tf.softmax(logits_MV);
      return tf.sum(tf.square(p_MV), 1);
    }),
  );
  return tf.concat(chunks);
}
