/**
 * The parts of attention that is composed of products of whole matrices.
 *
 * Legend: B rows · T key columns · Q query columns · H query heads · K key/value heads · G = H/K · D head width.
 */
import * as tf from '@retrace/compute/tensorflow';
import { matMul } from '@retrace/compute';
import type { TransformerConfig } from './transformer-config.js';

/** Added to the score of a key that a query must not see; its weight underflows to exactly 0. */
const MASKED = -1e9;

/** [B or 1, 1, Q, T]: 0 where a query, by its column [B or 1, Q], sees the key (up to its own column), else a large negative number. */
export function attentionBias(queryColumns: tf.Tensor, numKeys: number): tf.Tensor {
  return tf.tidy(() => {
    const keyColumns = tf.range(0, numKeys, 1, 'int32');
    const hidden = tf.greater(tf.expandDims(keyColumns, 0), tf.expandDims(queryColumns, 2));
    return tf.mul(tf.cast(tf.expandDims(hidden, 1), 'float32'), MASKED);
  });
}

/** softmax over keys of q [B, K, G·Q, D] against k [B, K, T, D] → [B, K, G·Q, T]. */
export function attentionWeights(
  q_BKED: tf.Tensor,
  k_BKTD: tf.Tensor,
  bias: tf.Tensor | null,
  numHeads: number,
): tf.Tensor {
  const scores = matMul(q_BKED, k_BKTD, { transposeB: true });
  if (bias === null) return tf.softmax(scores);
  const [numRows, , , numKeys] = scores.shape;
  const perHead = tf.reshape(scores, [numRows, numHeads, -1, numKeys]);
  return tf.reshape(tf.softmax(tf.add(perHead, bias)), scores.shape);
}

/** [B·P, heads·D] → [B, heads, P, D] */
export function splitHeads(
  x: tf.Tensor,
  numRows: number,
  numPositions: number,
  { headDim }: TransformerConfig,
  numHeads: number,
): tf.Tensor {
  return tf.transpose(tf.reshape(x, [numRows, numPositions, numHeads, headDim]), [0, 2, 1, 3]);
}

/** [B, heads, P, D] → [B·P, heads·D] */
export function joinHeads(x_BHPD: tf.Tensor): tf.Tensor {
  const [numRows, numHeads, numPositions, headDim] = x_BHPD.shape;
  return tf.reshape(tf.transpose(x_BHPD, [0, 2, 1, 3]), [numRows * numPositions, numHeads * headDim]);
}
