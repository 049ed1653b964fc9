/**
 * The loss of one micro-batch.
 *
 * Legend: M trained tokens.
 */
import * as tf from '@tensorflow/tfjs-core';
import { withGradient } from '../ops/with-gradient.js';
import { klTerm } from './kl-term.js';
import type { LossOptions } from './loss-options.js';
import { crossEntropyTerm, ppoTerm } from './policy-terms.js';
import type { TokenTerm } from './token-term.js';
import type { TrainingBatch } from './training-batch.js';
import { valueTerm } from './value-term.js';

/** What the model says about the trained tokens. */
export interface TokenOutputs {
  /** [2, M]: log π of the token, entropy of the distribution it was chosen from. */
  readonly distribution: tf.Tensor;
  /** [M] V of the state in which the token was chosen; null when there is no value loss. */
  readonly values: tf.Tensor | null;
}

/** One micro-batch's metrics: [7] sums over its tokens (the first seven of `combineStatistics`), then one maximum. */
export type LossStatistics = tf.Tensor;

/**
 * Σ w (r·ℓ_policy + c_V·ℓ_V + c_KL·kl − c_H·H) over the trained tokens: a scalar, with its closed-form gradient by
 * the outputs. w are the loss weights, r the rollout weights.
 *
 * `positions` [M] are the tokens' places in the flat batch. `onStatistics` is called once, with a tensor that lives
 * as long as the caller's tidy.
 */
export function trainingLoss(
  outputs: TokenOutputs,
  batch: TrainingBatch,
  positions: Int32Array,
  options: LossOptions,
  onStatistics: (statistics: LossStatistics) => void,
): tf.Tensor {
  const column: ReadColumn = (values) => tf.tensor1d(Float32Array.from(positions, (n) => values[n]));
  const { distribution, values } = outputs;
  const forward = () => {
    const [logprobs, entropy] = tf.unstack(distribution);
    const weights = column(batch.lossWeights);
    const none = tf.zerosLike(weights);

    const policy = policyTerm(logprobs, batch, column, options);
    const kl = batch.referenceLogprobs
      ? klTerm(logprobs, column(batch.referenceLogprobs), options.klEstimator)
      : { value: none, slope: none };
    const value = values === null ? null : valueTermOf(values, batch, column, options);

    const terms = [
      policy.value,
      tf.mul(kl.value, options.klCoefficient),
      tf.mul(entropy, -options.entropyCoefficient),
    ];
    if (value !== null) terms.push(tf.mul(value.value, options.valueCoefficient));
    const losses = tf.mul(weights, tf.addN(terms));
    const loss = tf.sum(losses);

    const policyLosses = tf.mul(weights, policy.value);
    const valueLosses = value === null ? none : tf.mul(weights, value.value);
    const { clipped, divergence, ratioDeviation } = policy.metrics ?? {
      clipped: none,
      divergence: none,
      ratioDeviation: none,
    };
    const summed = tf.stack([losses, policyLosses, valueLosses, entropy, kl.value, clipped, divergence]);
    onStatistics(tf.concat([tf.sum(summed, 1), tf.reshape(tf.max(ratioDeviation), [1])]));

    const logprobSlope = tf.add(policy.slope, tf.mul(kl.slope, options.klCoefficient));
    const entropySlope = tf.mul(weights, -options.entropyCoefficient);
    const slopes = [tf.stack([tf.mul(weights, logprobSlope), entropySlope])];
    if (value !== null) slopes.push(tf.mul(tf.mul(weights, value.slope), options.valueCoefficient));
    return { value: loss, saved: slopes };
  };
  return withGradient(values === null ? [distribution] : [distribution, values], forward, (dy, slopes) =>
    slopes.map((slope) => tf.mul(slope, dy)),
  );
}

type ReadColumn = (values: Float32Array) => tf.Tensor;

/** The policy loss times the rollout weights; metrics only where there is a ratio. */
interface WeightedPolicyTerm extends TokenTerm {
  readonly metrics: { clipped: tf.Tensor; divergence: tf.Tensor; ratioDeviation: tf.Tensor } | null;
}

function policyTerm(
  logprobs: tf.Tensor,
  batch: TrainingBatch,
  column: ReadColumn,
  options: LossOptions,
): WeightedPolicyTerm {
  const term = unweightedPolicyTerm(logprobs, batch, column, options);
  if (!batch.rolloutWeights) return term;
  const rolloutWeights = column(batch.rolloutWeights);
  return { ...term, value: tf.mul(term.value, rolloutWeights), slope: tf.mul(term.slope, rolloutWeights) };
}

function unweightedPolicyTerm(
  logprobs: tf.Tensor,
  batch: TrainingBatch,
  column: ReadColumn,
  options: LossOptions,
): WeightedPolicyTerm {
  if (options.policyLoss === 'crossEntropy') return { ...crossEntropyTerm(logprobs), metrics: null };
  const proximalLogprobs = column(required(batch.proximalLogprobs));
  const { value, slope, ratio, clipped } = ppoTerm(
    logprobs,
    proximalLogprobs,
    column(required(batch.advantages)),
    options,
  );
  const excess = tf.sub(ratio, 1);
  const divergence = tf.sub(excess, tf.sub(logprobs, proximalLogprobs));
  return { value, slope, metrics: { clipped, divergence, ratioDeviation: tf.abs(excess) } };
}

function valueTermOf(
  values: tf.Tensor,
  batch: TrainingBatch,
  column: ReadColumn,
  { valueClip }: LossOptions,
): TokenTerm {
  const clip =
    valueClip === null ? null : { range: valueClip, proximalValues: column(required(batch.proximalValues)) };
  return valueTerm(values, column(required(batch.returns)), clip);
}

/** A column whose presence `validateTrainingBatch` has established. */
function required(column: Float32Array | null): Float32Array {
  return column as Float32Array;
}
