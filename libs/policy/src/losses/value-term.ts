import * as tf from '@tensorflow/tfjs-core';
import type { TokenTerm } from './token-term.js';

/**
 * Value loss per token, as a function of V: ½(V − G)², or with a clip c around the proximal values V_prox
 * ½·max((V − G)², (V_prox + clip(V − V_prox, ±c) − G)²).
 */
export function valueTerm(
  values: tf.Tensor,
  returns: tf.Tensor,
  clip: { readonly range: number; readonly proximalValues: tf.Tensor } | null,
): TokenTerm {
  const error = tf.sub(values, returns);
  const free = tf.mul(tf.square(error), 0.5);
  if (clip === null) return { value: free, slope: error };
  const move = tf.sub(values, clip.proximalValues);
  const boundedMove = tf.clipByValue(move, -clip.range, clip.range);
  const boundedError = tf.sub(tf.add(clip.proximalValues, boundedMove), returns);
  const bounded = tf.mul(tf.square(boundedError), 0.5);
  // Where the bounded branch decides, V has left the range (inside it, both are equal), so there is no gradient.
  const isFlat = tf.logicalAnd(tf.greater(bounded, free), tf.notEqual(move, boundedMove));
  return { value: tf.maximum(free, bounded), slope: tf.where(isFlat, tf.zerosLike(error), error) };
}
