/**
 * Causal grouped-query attention of one layer, fused where that is faster.
 *
 * Legend: B rows · T key columns · N = B·T cells · Q query columns · H query heads · K key/value heads · D head width ·
 * W = (H + 2K)·D.
 */
import * as tf from '@tensorflow/tfjs-core';
import { hasNativeOps, nativeOp } from './native-op.js';
import { withGradient } from './with-gradient.js';

export interface FusedAttention {
  /** [N, W] projections before rotation: queries, keys, values. */
  readonly qkv: tf.Tensor;
  /** [P, W] rotary factors; cell c turns by row c mod P. */
  readonly factors: tf.Tensor;
  /** [B·Q] int32 cells that are queries, Q of each row; null if all T are. */
  readonly queryCells: tf.Tensor | null;
  /** [B or 1, 1, Q, T] added to the scores; a key with less than −1e8 is hidden. Null if every query sees every key. */
  readonly bias: tf.Tensor | null;
  readonly numRows: number;
  readonly numQueries: number;
  readonly numHeads: number;
  readonly numKeyValueHeads: number;
  readonly headDim: number;
}

/** Up to this many keys the fused op is faster than products of whole matrices. */
const maxFusedKeys = 128;

/** Whether `fusedAttention` can be called, and pays. */
export function fusesAttention(numKeys: number): boolean {
  return numKeys <= maxFusedKeys && hasNativeOps();
}

/**
 * softmax(QKᵀ + bias)·V of the turned queries and keys: the joined heads [B·Q, H·D]. One node of the tape, with respect
 * to `qkv`; the gradient computes the weights again instead of keeping them.
 */
export function fusedAttention(attention: FusedAttention): tf.Tensor {
  const { qkv, factors, queryCells, bias, numRows, numQueries, numHeads, numKeyValueHeads, headDim } =
    attention;
  const operands = (): tf.Tensor[] => [
    qkv,
    factors,
    queryCells ?? tf.tensor1d([], 'int32'),
    bias ?? tf.tensor1d([]),
    tf.tensor1d([numRows, numQueries, numHeads, numKeyValueHeads, headDim], 'int32'),
  ];
  const forward = () => {
    const saved = operands();
    return { value: nativeOp('RetraceAttention', saved)[0], saved };
  };
  const backward = (dy: tf.Tensor, saved: tf.Tensor[]) =>
    nativeOp('RetraceAttentionGradient', [dy, ...saved]);
  return withGradient([qkv], forward, backward);
}
