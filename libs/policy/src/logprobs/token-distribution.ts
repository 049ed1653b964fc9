/**
 * The LM head's distribution at chosen hidden states.
 *
 * Legend: M hidden states · h hidden size · V vocabulary.
 */
import * as tf from '@retrace/compute/tensorflow';
import { matMul, targetStatistics, targetStatisticsGradient, withGradient } from '@retrace/compute';
import type { Backward, ChosenIds } from '@retrace/compute';

/** Most logits of one chunk: 64 MiB of float32. */
export const MAX_LOGITS = 2 ** 24;

export interface DistributionOptions {
  readonly temperature: number;
  /** Most logits of one chunk, in elements (default `MAX_LOGITS`). */
  readonly maxLogits?: number;
  /** Ids beside the targets whose log p is wanted too, k a row (default null: none). */
  readonly chosen?: ChosenIds | null;
}

/**
 * Computes log probability and entropy of tokens: for z = hidden·headᵀ/temperature and p = softmax(z): row 0 of the result is log p of each target, row 1 the
 * entropy −Σ p log p, in nats; those that follow are log p of the chosen ids. Shape [2 + k, M]; differentiable by hidden and head.
 *
 * Computed in chunks; with more than one, the gradient computes their logits again, so that [M, V] never exists whole.
 */
export function tokenDistribution(
  hidden_MH: tf.Tensor,
  head_VH: tf.Tensor,
  targets: Int32Array,
  { temperature, maxLogits = MAX_LOGITS, chosen = null }: DistributionOptions,
): tf.Tensor {
  const chunkRows = rowsOfChunk(head_VH, maxLogits);
  if (targets.length <= chunkRows) {
    return chunkDistribution(hidden_MH, head_VH, targets, { temperature, chosen, recompute: false });
  }
  const chunks = splitRows(hidden_MH, chunkRows).map((chunk, i) => {
    const chunkTargets = targets.subarray(i * chunkRows, (i + 1) * chunkRows);
    const ofChunk = chosen && chosenOfRows(chosen, i * chunkRows, (i + 1) * chunkRows);
    return chunkDistribution(chunk, head_VH, chunkTargets, { temperature, chosen: ofChunk, recompute: true });
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

/**
 * The k likeliest ids of each row of p = softmax(hidden·headᵀ/temperature), from the likeliest on: `ids` [M, k], int32, and `logprobs` [M, k], log p in
 * nats. Ids from `vocabSize` on are never among them. Without a gradient; computed in chunks.
 */
export function likeliestIds(
  hidden_MH: tf.Tensor,
  head_VH: tf.Tensor,
  {
    temperature,
    topK,
    vocabSize,
    maxLogits = MAX_LOGITS,
  }: DistributionOptions & { readonly topK: number; readonly vocabSize: number },
): { readonly ids: tf.Tensor; readonly logprobs: tf.Tensor } {
  const chunks = splitRows(hidden_MH, rowsOfChunk(head_VH, maxLogits)).map((chunk) =>
    tf.tidy(() => {
      const logits_CV = tf.div(matMul(chunk, head_VH, { transposeB: true }), temperature);
      const { values, indices } = tf.topk(tf.slice(logits_CV, [0, 0], [-1, vocabSize]), topK);
      return { ids: indices, logprobs: tf.sub(values, tf.logSumExp(logits_CV, 1, true)) };
    }),
  );
  return {
    ids: tf.concat(chunks.map(({ ids }) => ids)),
    logprobs: tf.concat(chunks.map(({ logprobs }) => logprobs)),
  };
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

/** The chosen ids of the rows `from` … `to` − 1. */
export function chosenOfRows({ numPerRow, ids }: ChosenIds, from: number, to: number): ChosenIds {
  return { numPerRow, ids: ids.subarray(from * numPerRow, to * numPerRow) };
}

interface ChunkOptions {
  readonly temperature: number;
  readonly chosen: ChosenIds | null;
  /** Compute the logits again for the gradient instead of keeping them. */
  readonly recompute: boolean;
}

function chunkDistribution(
  hidden_MH: tf.Tensor,
  head_VH: tf.Tensor,
  targets: Int32Array,
  { temperature, chosen, recompute }: ChunkOptions,
): tf.Tensor {
  const logitsOf = (hidden: tf.Tensor, head: tf.Tensor) => matMul(hidden, head, { transposeB: true });
  const forward = () => {
    const { value, state } = targetStatistics(logitsOf(hidden_MH, head_VH), targets, temperature, chosen);
    const saved = recompute ? [hidden_MH, head_VH] : [hidden_MH, head_VH, value, state];
    return { value, saved };
  };
  const backward: Backward = (dy, [hidden, head, value, state], [wantsHidden, wantsHead]) => {
    const statistics = recompute
      ? targetStatistics(logitsOf(hidden, head), targets, temperature, chosen)
      : { value, state };
    const dLogits = targetStatisticsGradient(dy, statistics, targets, temperature, chosen);
    return [
      wantsHidden ? matMul(dLogits, head) : null,
      wantsHead ? matMul(dLogits, hidden, { transposeA: true }) : null,
    ];
  };
  return withGradient([hidden_MH, head_VH], forward, backward);
}
