/**
 * Sampling on the device.
 *
 * Legend: B rows · V vocabulary.
 */
import * as tf from '@tensorflow/tfjs-core';
import { logSoftmax } from '../ops/log-softmax.js';
import { sampleCategorical } from '../ops/sample-categorical.js';

export interface SamplingParameters {
  /** All [B]. */
  readonly temperatures: Float32Array;
  readonly greedy: Uint8Array;
  /** In (0, 1). */
  readonly uniforms: Float32Array;
}

/**
 * One token a row, by inverse CDF; or the most likely one where greedy.
 * p = softmax(logits / temperature).
 *
 * Returns [4, B]: token id, log p of it, log p before temperature, entropy of p.
 */
export function sampleTokens(logits_BV: tf.Tensor, parameters: SamplingParameters): tf.Tensor {
  const { temperatures, greedy, uniforms } = parameters;
  const [numRows, vocabSize] = logits_BV.shape;
  const isRaw = temperatures.every((temperature) => temperature === 1);
  const raw_BV = logSoftmax(logits_BV);
  const logp_BV = isRaw ? raw_BV : logSoftmax(tf.div(logits_BV, tf.tensor2d(temperatures, [numRows, 1])));
  const p_BV = tf.exp(logp_BV);
  const entropy_B = tf.neg(tf.sum(tf.mul(p_BV, logp_BV), 1));
  const token_B = chooseTokens(logp_BV, p_BV, greedy, uniforms);
  const flatIndex_B = tf.add(token_B, tf.range(0, numRows * vocabSize, vocabSize, 'int32'));
  const at = (x_BV: tf.Tensor) => tf.gather(tf.reshape(x_BV, [-1]), flatIndex_B);
  const logprob_B = at(logp_BV);
  return tf.stack([tf.cast(token_B, 'float32'), logprob_B, isRaw ? logprob_B : at(raw_BV), entropy_B]);
}

function chooseTokens(
  logp_BV: tf.Tensor,
  p_BV: tf.Tensor,
  greedy: Uint8Array,
  uniforms: Float32Array,
): tf.Tensor {
  if (greedy.every((flag) => flag === 1)) return tf.argMax(logp_BV, 1);
  const sampled_B = sampleCategorical(p_BV, tf.tensor2d(uniforms, [uniforms.length, 1]));
  if (greedy.every((flag) => flag === 0)) return sampled_B;
  return tf.where(tf.tensor1d(greedy, 'bool'), tf.argMax(logp_BV, 1), sampled_B);
}
