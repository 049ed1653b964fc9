/**
 * Causal grouped-query attention over rows.
 *
 * Legend: B rows · T key columns · Q query columns · H query heads · K key/value heads · G = H/K · D head width ·
 * W = (H + 2K)·D.
 */
import * as tf from '@tensorflow/tfjs-core';
import { fusedAttention, fusesAttention } from '../ops/attention.js';
import { matMul } from '../ops/mat-mul.js';
import { rotate, rotateBack } from './rotary.js';
import type { TransformerConfig } from './transformer-config.js';
import { withGradient } from '../ops/with-gradient.js';

/** Added to the score of a key that a query must not see; its weight underflows to exactly 0. */
const masked = -1e9;

/** Which columns are queries, and what they may see. */
export interface AttentionPlan {
  readonly numRows: number;
  readonly rowLength: number;
  /** [T, W] rotary factors of the columns. */
  readonly rotary: tf.Tensor;
  /** [B·Q] cells (row·T + column) that are queries; null if all T columns are. */
  readonly queryCells: tf.Tensor | null;
  readonly numQueries: number;
  /** [B or 1, 1, Q, T] 0 or `masked`, added to the scores; null if every query sees every key. */
  readonly bias: tf.Tensor | null;
}

/** Columns and segments of queries and keys: a query sees the keys of its segment up to its own column. */
export interface Visibility {
  /** [B or 1, Q] */
  readonly queryColumns: tf.Tensor;
  readonly numKeys: number;
  /** [B, Q] and [B, T]; null where each row is one segment. */
  readonly segments: { readonly queries: tf.Tensor; readonly keys: tf.Tensor } | null;
}

/** [B or 1, 1, Q, T]: 0 where the query sees the key, else a large negative number. */
export function attentionBias({ queryColumns, numKeys, segments }: Visibility): tf.Tensor {
  return tf.tidy(() => {
    const keyColumns = tf.range(0, numKeys, 1, 'int32');
    let hidden = tf.greater(tf.expandDims(keyColumns, 0), tf.expandDims(queryColumns, 2));
    if (segments !== null) {
      const foreign = tf.notEqual(tf.expandDims(segments.queries, 2), tf.expandDims(segments.keys, 1));
      hidden = tf.logicalOr(hidden, foreign);
    }
    return tf.mul(tf.cast(tf.expandDims(hidden, 1), 'float32'), masked);
  });
}

/**
 * softmax(QKᵀ/√D + bias)·V, from the joined projections [B·T, W] before rotation to the joined heads [B·Q, H·D].
 * One node of the gradient tape, with the closed-form gradient.
 */
export function attend(qkv_NW: tf.Tensor, plan: AttentionPlan, config: TransformerConfig): tf.Tensor {
  const { numHeads, numKeyValueHeads, headDim } = config;
  const { numRows, rowLength, numQueries, queryCells } = plan;
  if (fusesAttention(rowLength)) {
    return fusedAttention({ ...plan, ...config, qkv: qkv_NW, factors: plan.rotary });
  }
  const queryWidth = numHeads * headDim;
  const keyWidth = numKeyValueHeads * headDim;
  const numCells = numRows * rowLength;

  const forward = () => {
    const rotated = rotate(qkv_NW, plan.rotary);
    const [queries, keys, values] = tf.split(rotated, [queryWidth, keyWidth, keyWidth], 1);
    const selected = queryCells === null ? queries : tf.gather(queries, queryCells);
    const q = splitHeads(selected, numRows, numQueries, config, numHeads);
    const k = splitHeads(keys, numRows, rowLength, config, numKeyValueHeads);
    const v = splitHeads(values, numRows, rowLength, config, numKeyValueHeads);
    const q_BKED = tf.reshape(q, [numRows, numKeyValueHeads, -1, headDim]);
    const weights = attentionWeights(q_BKED, k, plan.bias, numHeads);
    const out_BKED = matMul(weights, v);
    const value = joinHeads(tf.reshape(out_BKED, [numRows, numHeads, numQueries, headDim]));
    return { value, saved: [q_BKED, k, v, weights, out_BKED] };
  };
  const backward = (dy: tf.Tensor, [q, k, v, p, o]: tf.Tensor[]) => {
    const dOut = tf.reshape(splitHeads(dy, numRows, numQueries, config, numHeads), o.shape);
    const dV = matMul(p, dOut, { transposeA: true });
    const dP = matMul(dOut, v, { transposeB: true });
    // Σ_t p·dp = Σ_d o·do, which has fewer terms.
    const dScores = tf.mul(p, tf.sub(dP, tf.sum(tf.mul(o, dOut), -1, true)));
    const dQ = joinHeads(tf.reshape(matMul(dScores, k), [numRows, numHeads, numQueries, headDim]));
    const dK = matMul(dScores, q, { transposeA: true });
    const dQueries = queryCells === null ? dQ : scatterRows(dQ, queryCells, numCells);
    const dQkv = tf.concat([dQueries, joinHeads(dK), joinHeads(dV)], 1);
    return [rotateBack(dQkv, plan.rotary)];
  };
  return withGradient([qkv_NW], forward, backward);
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

/** Adds the rows of x into a matrix of zeros with `numRows` rows: the transpose of gathering rows. */
function scatterRows(x: tf.Tensor, rows: tf.Tensor, numRows: number): tf.Tensor {
  return tf.scatterND(tf.expandDims(rows, 1), x, [numRows, x.size / rows.size]);
}
