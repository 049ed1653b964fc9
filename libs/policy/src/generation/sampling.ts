/**
 * Sampling on the device.
 *
 * Legend: R rows of logits · B samples · V vocabulary.
 */
import * as tf from '@retrace/compute/tensorflow';
import { hasNativeOps, logSoftmax, nativeOp, sampleCategorical } from '@retrace/compute';

/** All [B]. */
export interface BatchSampling {
  /** Row of the logits that each sample is drawn from. */
  readonly rows: Int32Array;
  readonly temperatures: Float32Array;
  /** Sample only among this many most likely ids; 0: all. */
  readonly topK: Int32Array;
  /** Sample only among the fewest most likely of those whose probabilities add up to this; 1: all. */
  readonly topP: Float32Array;
  readonly greedy: Uint8Array;
  /** In (0, 1). */
  readonly uniforms: Float32Array;
}

/** Logit of ids that are cut off; their probability underflows to exactly 0. */
const CUT_OFF = -1e30;

/**
 * Draws one token for each sample, by inverse CDF in the order of ids, or takes the most likely one where greedy.
 * p = softmax(logits / temperature) over the ids that `topK` and then `topP` keep; ids as likely as the least likely kept one
 * are kept too.
 *
 * Returns [4, B]: token id, log p of it, log p before temperature and cuts, entropy of p.
 */
export function sampleTokens(logits_RV: tf.Tensor, parameters: BatchSampling): tf.Tensor {
  return hasNativeOps() ? fusedSample(logits_RV, parameters) : composedSample(logits_RV, parameters);
}

function fusedSample(logits_RV: tf.Tensor, parameters: BatchSampling): tf.Tensor {
  const { rows, temperatures, topK, topP, greedy, uniforms } = parameters;
  const numbers = Float32Array.of(
    ...temperatures.map((temperature) => 1 / temperature),
    ...topP,
    ...uniforms,
  );
  const choices = Int32Array.of(...topK, ...greedy);
  return nativeOp('RetraceSample', [
    logits_RV,
    tf.tensor1d(rows, 'int32'),
    tf.tensor1d(numbers),
    tf.tensor1d(choices, 'int32'),
  ])[0];
}

function composedSample(logits_RV: tf.Tensor, parameters: BatchSampling): tf.Tensor {
  const { rows, temperatures, greedy, uniforms } = parameters;
  const numSamples = rows.length;
  const isInOrder = logits_RV.shape[0] === numSamples && rows.every((row, sample) => row === sample);
  const logits_BV = isInOrder ? logits_RV : tf.gather(logits_RV, tf.tensor1d(rows, 'int32'));
  const vocabSize = logits_BV.size / numSamples;
  const isRaw = temperatures.every((temperature) => temperature === 1) && !cuts(parameters);
  const raw_BV = logSoftmax(logits_BV);
  const logp_BV = isRaw ? raw_BV : logSoftmax(scaledAndCut(logits_BV, parameters));
  const p_BV = tf.exp(logp_BV);
  const entropy_B = tf.neg(tf.sum(tf.mul(p_BV, logp_BV), 1));
  const token_B = chooseTokens(logp_BV, p_BV, greedy, uniforms);
  const flatIndex_B = tf.add(token_B, tf.range(0, numSamples * vocabSize, vocabSize, 'int32'));
  const at = (x_BV: tf.Tensor) => tf.gather(tf.reshape(x_BV, [-1]), flatIndex_B);
  const logprob_B = at(logp_BV);
  return tf.stack([tf.cast(token_B, 'float32'), logprob_B, isRaw ? logprob_B : at(raw_BV), entropy_B]);
}

function cuts({ topK, topP }: BatchSampling): boolean {
  return topK.some((k) => k > 0) || topP.some((p) => p < 1);
}

/** Logits divided by temperature; those of ids that are cut off are far below all others. */
export function scaledAndCut(logits_BV: tf.Tensor, parameters: BatchSampling): tf.Tensor {
  const scaled_BV = tf.div(logits_BV, tf.tensor2d(parameters.temperatures, [parameters.rows.length, 1]));
  if (!cuts(parameters)) return scaled_BV;
  return tf.where(tf.greaterEqual(scaled_BV, lowestKept(scaled_BV, parameters)), scaled_BV, CUT_OFF);
}

/** The lowest scaled logit that is kept in each row, [B, 1]. */
function lowestKept(scaled_BV: tf.Tensor, { topK, topP }: BatchSampling): tf.Tensor {
  const [numSamples, vocabSize] = scaled_BV.shape;
  const column = (values: ArrayLike<number>) => tf.tensor2d(Float32Array.from(values), [numSamples, 1]);
  const { values: sorted_BV } = tf.topk(scaled_BV, vocabSize, true);
  const amongTopK = tf.less(tf.range(0, vocabSize), column(topK.map((k) => (k > 0 ? k : vocabSize))));
  const share_BV = tf.softmax(tf.where(amongTopK, sorted_BV, CUT_OFF));
  const shareBefore_BV = tf.cumsum(share_BV, 1, true);
  // Rounded sums of all shares may pass 1.
  const reached = tf.less(shareBefore_BV, column(topP.map((p) => (p < 1 ? p : 2))));
  return tf.min(tf.where(tf.logicalAnd(amongTopK, reached), sorted_BV, -CUT_OFF), 1, true);
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
