/**
 * Causal grouped-query attention over the sequences of a pack.
 *
 * Legend: N cells · M queries · R rows, L key columns and Q query columns of a bucket · H query heads · K key/value heads ·
 * G = H/K · E = G·Q · D head width · W = (H + 2K)·D.
 */
import * as tf from '@retrace/compute/tensorflow';
import { fusedAttention, matMul, withGradient } from '@retrace/compute';
import type { AttentionPlan, BucketPlan, BucketedPlan } from './attention-plan.js';
import { attentionWeights, joinHeads, splitHeads } from './attention-weights.js';
import { rotate, rotateBack } from './rotary.js';
import type { TransformerConfig } from './transformer-config.js';

/**
 * softmax(QKᵀ/√D)·V, from the joined projections [N, W] before rotation to the joined heads [M, H·D], each query over
 * the keys of its own sequence up to itself. One node of the gradient tape, with the closed-form gradient.
 */
export function attend(qkv_NW: tf.Tensor, plan: AttentionPlan, config: TransformerConfig): tf.Tensor {
  if (plan.kind === 'fused') return fusedAttention({ ...plan, ...config, qkv: qkv_NW });
  const forward = () => {
    const rotated = rotate(qkv_NW, plan.factors);
    const [queries, keys, values] = tf.split(rotated, computeWidths(config), 1);
    const results = plan.buckets.map((bucket) => attendBucket(bucket, { queries, keys, values }, config));
    const contexts = concatRows(results.map(({ value }) => value));
    return { value: gatherRows(contexts, plan.rowOfQuery), saved: results.flatMap(({ saved }) => saved) };
  };
  const backward = (dy: tf.Tensor, saved: tf.Tensor[]) => [makeBackward(dy, saved, plan, config)];
  return withGradient([qkv_NW], forward, backward);
}

interface Projections {
  readonly queries: tf.Tensor;
  readonly keys: tf.Tensor;
  readonly values: tf.Tensor;
}

/** The joined heads [R·Q, H·D] of a bucket's rows, and what its gradient needs. */
function attendBucket(
  { numRows, rowLength, numQueries, cells, queryCells, bias }: BucketPlan,
  { queries, keys, values }: Projections,
  config: TransformerConfig,
): { value: tf.Tensor; saved: tf.Tensor[] } {
  const { numHeads, numKeyValueHeads, headDim } = config;
  const q = splitHeads(gatherRows(queries, queryCells ?? cells), numRows, numQueries, config, numHeads);
  const k = splitHeads(gatherRows(keys, cells), numRows, rowLength, config, numKeyValueHeads);
  const v = splitHeads(gatherRows(values, cells), numRows, rowLength, config, numKeyValueHeads);
  const q_RKED = tf.reshape(q, [numRows, numKeyValueHeads, -1, headDim]);
  const weights = attentionWeights(q_RKED, k, bias, numHeads);
  const out_RKED = matMul(weights, v);
  const value = joinHeads(tf.reshape(out_RKED, [numRows, numHeads, numQueries, headDim]));
  return { value, saved: [q_RKED, k, v, weights, out_RKED] };
}

const NUM_SAVED = 5;

/** The gradient [N, W] of the projections before rotation. */
function makeBackward(
  dy_MC: tf.Tensor,
  saved: tf.Tensor[],
  plan: BucketedPlan,
  config: TransformerConfig,
): tf.Tensor {
  // Padding reads a row of zeros.
  const dContexts = gatherRows(withZeroRow(dy_MC, plan.queryOfRow), plan.queryOfRow);
  const sizes = plan.buckets.map(({ numRows, numQueries }) => numRows * numQueries);
  const dContextOf = sizes.length === 1 ? [dContexts] : tf.split(dContexts, sizes, 0);
  const parts = plan.buckets.map((bucket, b) =>
    bucketBackward(bucket, dContextOf[b], saved.slice(b * NUM_SAVED, (b + 1) * NUM_SAVED), config),
  );
  const dQueriesOfPlaces = concatRows(parts.map(({ dQueries }) => dQueries));
  const dQueries_MC = gatherRows(dQueriesOfPlaces, plan.rowOfQuery);
  const dQueries = gatherRows(withZeroRow(dQueries_MC, plan.queryOfCell), plan.queryOfCell);
  const dKeys = gatherRows(concatRows(parts.map(({ dKeys }) => dKeys)), plan.rowOfCell);
  const dValues = gatherRows(concatRows(parts.map(({ dValues }) => dValues)), plan.rowOfCell);
  return rotateBack(tf.concat([dQueries, dKeys, dValues], 1), plan.factors);
}

function bucketBackward(
  { numRows, numQueries }: BucketPlan,
  dContext: tf.Tensor,
  [q, k, v, p, o]: tf.Tensor[],
  config: TransformerConfig,
): { dQueries: tf.Tensor; dKeys: tf.Tensor; dValues: tf.Tensor } {
  const { numHeads, headDim } = config;
  const dOut = tf.reshape(splitHeads(dContext, numRows, numQueries, config, numHeads), o.shape);
  const dV = matMul(p, dOut, { transposeA: true });
  const dP = matMul(dOut, v, { transposeB: true });
  // Σ_t p·dp = Σ_d o·do, which has fewer terms.
  const dScores = tf.mul(p, tf.sub(dP, tf.sum(tf.mul(o, dOut), -1, true)));
  const dQ = tf.reshape(matMul(dScores, k), [numRows, numHeads, numQueries, headDim]);
  const dK = matMul(dScores, q, { transposeA: true });
  return { dQueries: joinHeads(dQ), dKeys: joinHeads(dK), dValues: joinHeads(dV) };
}

function computeWidths({ numHeads, numKeyValueHeads, headDim }: TransformerConfig): [number, number, number] {
  return [numHeads * headDim, numKeyValueHeads * headDim, numKeyValueHeads * headDim];
}

function gatherRows(x: tf.Tensor, rows: tf.Tensor | null): tf.Tensor {
  return rows === null ? x : tf.gather(x, rows);
}

function concatRows(parts: tf.Tensor[]): tf.Tensor {
  return parts.length === 1 ? parts[0] : tf.concat(parts, 0);
}

/** Adds a last row of zeros, unless `rows` gathers nothing. */
function withZeroRow(x: tf.Tensor, rows: tf.Tensor | null): tf.Tensor {
  return rows === null ? x : tf.concat([x, tf.zeros([1, x.shape[1] as number])], 0);
}
