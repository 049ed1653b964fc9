import * as tf from '@retrace/compute/tensorflow';
import type { TensorLossInput } from './tensor-loss.js';

/** Log ratios are held inside ±this, so that no ratio overflows; what is held has no gradient. */
const LOG_RATIO_LIMIT = 20;

/** Δ = logπ − logπ_prox `[N]`. */
export function logRatios({ logprobs, proximalLogprobs }: TensorLossInput): tf.Tensor {
  return tf.sub(logprobs, proximalLogprobs);
}

export function held(logRatio: tf.Tensor): tf.Tensor {
  return tf.clipByValue(logRatio, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
}

/** exp(held log ratio). */
export function computeRatio(logRatio: tf.Tensor): tf.Tensor {
  return tf.exp(held(logRatio));
}

/** x where the mask is 1, 0 elsewhere, also where x is not finite. */
export function where(mask: tf.Tensor, x: tf.Tensor): tf.Tensor {
  return tf.where(tf.cast(mask, 'bool'), x, tf.zerosLike(x));
}
