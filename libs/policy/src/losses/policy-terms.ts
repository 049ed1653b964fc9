import * as tf from '@tensorflow/tfjs-core';
import type { LossOptions } from './loss-options.js';
import type { TokenTerm } from './token-term.js';

/** log ratios beyond ± this are clamped, and have no gradient. */
const maxLogRatio = 20;

/** The clipped surrogate, and what the metrics need of it. All [M]. */
export interface PpoTerm extends TokenTerm {
  /** ρ = π/π_prox */
  readonly ratio: tf.Tensor;
  /** 1 where the clipped branch decides the loss. */
  readonly clipped: tf.Tensor;
}

/**
 * PPO's clipped surrogate with asymmetric and dual clip, as a function of log π:
 * ℓ = max(−Aρ, −A·clip(ρ, 1 − ε_low, 1 + ε_high)) and, where A < 0 and c is set, ℓ = min(ℓ, −cA);
 * ρ = exp(log π − log π_prox), the exponent clamped to ±20.
 * PPO: arXiv:1707.06347 eq. 7; asymmetric clip: arXiv:2503.14476 eq. 10; dual clip: arXiv:1912.09729 eq. 5.
 */
export function ppoTerm(
  logprobs: tf.Tensor,
  proximalLogprobs: tf.Tensor,
  advantages: tf.Tensor,
  { clipLow, clipHigh, dualClip }: Pick<LossOptions, 'clipLow' | 'clipHigh' | 'dualClip'>,
): PpoTerm {
  const logRatio = tf.sub(logprobs, proximalLogprobs);
  const clamped = tf.clipByValue(logRatio, -maxLogRatio, maxLogRatio);
  const ratio = tf.exp(clamped);
  const free = tf.neg(tf.mul(advantages, ratio));
  const bounded = tf.neg(tf.mul(advantages, tf.clipByValue(ratio, 1 - clipLow, 1 + clipHigh)));
  const isClipped = tf.greater(bounded, free);
  let value = tf.maximum(free, bounded);
  let isFlat = tf.logicalOr(isClipped, tf.notEqual(logRatio, clamped));
  if (dualClip !== null) {
    const ceiling = tf.mul(advantages, -dualClip);
    const isCapped = tf.logicalAnd(tf.less(advantages, 0), tf.less(ceiling, value));
    value = tf.where(isCapped, ceiling, value);
    isFlat = tf.logicalOr(isFlat, isCapped);
  }
  // Where the unclipped branch decides, dℓ/dlog π = −A·dρ/dlog π = −Aρ.
  return {
    value,
    slope: tf.where(isFlat, tf.zerosLike(free), free),
    ratio,
    clipped: tf.cast(isClipped, 'float32'),
  };
}

/** ℓ = −log π, as a function of log π. */
export function crossEntropyTerm(logprobs: tf.Tensor): TokenTerm {
  return { value: tf.neg(logprobs), slope: tf.fill([logprobs.size], -1) };
}
