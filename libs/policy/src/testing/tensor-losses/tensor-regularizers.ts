/**
 * Terms of losses beside the policy's, as tensor expressions; `@retrace/algorithms` has each with its gradient worked out.
 *
 * Legend: N action tokens · V vocabulary.
 */
import type { KlEstimator } from '@retrace/algorithms';
import * as tf from '@retrace/compute/tensorflow';
import { logSoftmax, stopGradient } from '@retrace/compute';
import { PolicyError } from '../../policy-error.js';
import { held, computeRatio } from './token-ratio.js';

const K3_LIMIT = 10;

/**
 * KL(π‖π_ref) estimated at each token `[N]`, d = logπ − logπ_ref: `k1` d, `abs` |d|, `k2` ½d², `k3` e^{−d} + d − 1 with d held at ±20 and
 * the result at 10. `straightThrough` keeps the value and takes the gradient of k2. With `proximalLogprobs`, each is multiplied by π/π_prox.
 */
export function tensorKl(
  logprobs: tf.Tensor,
  referenceLogprobs: tf.Tensor,
  {
    estimator,
    straightThrough = false,
    proximalLogprobs = null,
  }: {
    readonly estimator: KlEstimator;
    readonly straightThrough?: boolean;
    readonly proximalLogprobs?: tf.Tensor | null;
  },
): tf.Tensor {
  return tf.tidy(() => {
    const d = tf.sub(logprobs, referenceLogprobs);
    const corrected = (estimate: tf.Tensor) =>
      proximalLogprobs ? tf.mul(computeRatio(tf.sub(logprobs, proximalLogprobs)), estimate) : estimate;
    const value = corrected(computeEstimate(estimator, d));
    if (!straightThrough) return value;
    const k2 = corrected(computeEstimate('k2', d));
    return tf.add(stopGradient(value), tf.sub(k2, stopGradient(k2)));
  });
}

function computeEstimate(estimator: KlEstimator, d: tf.Tensor): tf.Tensor {
  switch (estimator) {
    case 'k1':
      return d;
    case 'abs':
      return tf.mul(d, stopGradient(tf.sign(d)));
    case 'k2':
      return tf.mul(0.5, tf.square(d));
    case 'k3':
      return tf.minimum(tf.add(tf.expm1(tf.neg(held(d))), held(d)), K3_LIMIT);
  }
}

/** Entropy of softmax(z) of each row of logits z `[N, V]`, −Σ_v p_v log p_v, in nats `[N]`. The bonus of a loss is −c·Σ w H. */
export function tensorEntropy(logits_NV: tf.Tensor): tf.Tensor {
  return tf.tidy(() => {
    const logp_NV = logSoftmax(logits_NV);
    return tf.neg(tf.sum(tf.mul(tf.exp(logp_NV), logp_NV), 1));
  });
}

export interface TensorValueLossInput {
  /** V of the current critic `[N]`: what the tape goes back to. */
  readonly values: tf.Tensor;
  readonly returns: tf.Tensor;
  /** V of the critic at the start of this update; needed where there is a clip. */
  readonly proximalValues: tf.Tensor | null;
  /** Aggregation weights. */
  readonly weights: tf.Tensor;
  /** Bound on |V − V_prox|; null: none. */
  readonly clip: number | null;
}

/**
 * Σ w·½·max((V − G)², (clip(V, V_prox ± c) − G)²).
 *
 * @throws PolicyError `INVALID_BATCH` for a clip without `proximalValues`
 */
export function tensorValueLoss(input: TensorValueLossInput): tf.Scalar {
  const { values, returns, proximalValues, weights, clip } = input;
  if (clip !== null && proximalValues === null) {
    throw new PolicyError('INVALID_BATCH', `proximalValues is null; a clip of ${clip} is around them`);
  }
  return tf.tidy(() => {
    const errors = tf.square(tf.sub(values, returns));
    if (clip === null || proximalValues === null) return tf.sum(tf.mul(weights, tf.mul(0.5, errors)));
    const moved = tf.clipByValue(tf.sub(values, proximalValues), -clip, clip);
    const clippedErrors = tf.square(tf.sub(tf.add(proximalValues, moved), returns));
    return tf.sum(tf.mul(weights, tf.mul(0.5, tf.maximum(errors, clippedErrors))));
  });
}
