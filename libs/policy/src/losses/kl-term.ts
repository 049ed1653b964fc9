import * as tf from '@tensorflow/tfjs-core';
import type { KlEstimator } from './loss-options.js';
import type { TokenTerm } from './token-term.js';

/** k3 takes d clamped to ± this … */
const maxDifference = 20;
/** … and is itself clamped to ± this. */
const maxK3 = 10;

/**
 * Estimate of KL(π‖π_ref) per token, as a function of log π, from d = log π − log π_ref:
 * k1 = d, abs = |d|, k2 = ½d², k3 = e^(−d) + d − 1 (d clamped to ±20, the result to ±10; no gradient where clamped).
 * Source: J. Schulman, "Approximating KL divergence", 2020.
 */
export function klTerm(logprobs: tf.Tensor, referenceLogprobs: tf.Tensor, estimator: KlEstimator): TokenTerm {
  const difference = tf.sub(logprobs, referenceLogprobs);
  switch (estimator) {
    case 'k1':
      return { value: difference, slope: tf.onesLike(difference) };
    case 'abs':
      return { value: tf.abs(difference), slope: tf.sign(difference) };
    case 'k2':
      return { value: tf.mul(tf.square(difference), 0.5), slope: difference };
    case 'k3':
      return k3Term(difference);
  }
}

function k3Term(difference: tf.Tensor): TokenTerm {
  const clamped = tf.clipByValue(difference, -maxDifference, maxDifference);
  const inverseRatio = tf.exp(tf.neg(clamped));
  const free = tf.sub(tf.add(inverseRatio, clamped), 1);
  const value = tf.clipByValue(free, -maxK3, maxK3);
  const isClamped = tf.logicalOr(tf.notEqual(difference, clamped), tf.notEqual(free, value));
  return { value, slope: tf.where(isClamped, tf.zerosLike(free), tf.sub(1, inverseRatio)) };
}
