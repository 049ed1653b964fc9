/**
 * Causal grouped-query attention of one layer over concatenated sequences, fused.
 *
 * Legend: N cells · S sequences · M queries · H query heads · K key/value heads · D head width · W = (H + 2K)·D.
 */
import * as tf from '../../tensorflow.js';
import { hasNativeOps, nativeOp } from '../kernels/native-op.js';
import { withGradient } from '../gradients/with-gradient.js';

export interface FusedAttention {
  /** [N, W] projections before rotation: queries, keys, values. */
  readonly qkv: tf.Tensor;
  /** [P, W] rotary factors of the positions 0 … P−1 of a sequence. */
  readonly factors: tf.Tensor;
  /** [S + 1] int32, from 0 to N. */
  readonly offsets: tf.Tensor;
  /** [M] int32 cells that are queries, in increasing order; null if all N are. */
  readonly queries: tf.Tensor | null;
  readonly numHeads: number;
  readonly numKeyValueHeads: number;
  readonly headDim: number;
}

/** Whether `fusedAttention` can be called. */
export function fusesAttention(): boolean {
  return hasNativeOps();
}

/**
 * softmax(QKᵀ)·V of the rotated queries and keys, each query over the keys of its sequence up to itself: the joined heads
 * [M, H·D]. One node of the tape, differentiable by `qkv`; the gradient computes the weights again instead of keeping
 * them. Takes time in proportion to Σ length² of the sequences, and no memory besides its result.
 */
export function fusedAttention(attention: FusedAttention): tf.Tensor {
  const { qkv, factors, offsets, queries, numHeads, numKeyValueHeads, headDim } = attention;
  const forward = () => {
    const saved: tf.Tensor[] = [
      qkv,
      factors,
      offsets,
      queries ?? tf.tensor1d([], 'int32'),
      tf.tensor1d([numHeads, numKeyValueHeads, headDim], 'int32'),
    ];
    return { value: nativeOp('RetraceAttention', saved)[0], saved };
  };
  const backward = (dy: tf.Tensor, saved: tf.Tensor[]) =>
    nativeOp('RetraceAttentionGradient', [dy, ...saved]);
  return withGradient([qkv], forward, backward);
}
