import * as tf from '@tensorflow/tfjs-core';
import { freeze, isFrozen } from './frozen.js';

export interface ForwardResult {
  readonly value: tf.Tensor;
  /** Kept for the gradient; freed by the tape. Nothing else of the forward pass outlives it. */
  readonly saved: tf.Tensor[];
}

/**
 * The gradient of each input, in order, from the gradient of the value and what the forward pass saved. `wanted` says
 * which are needed: the others may be null.
 */
export type Backward = (
  dy: tf.Tensor,
  saved: tf.Tensor[],
  wanted: readonly boolean[],
) => readonly (tf.Tensor | null)[];

/**
 * One node of the gradient tape with a gradient of its own. What `backward` makes on its way is freed when it returns.
 * Frozen inputs get no gradient; a function of frozen inputs alone is no node, and frozen itself.
 */
export function withGradient(
  inputs: readonly tf.Tensor[],
  forward: () => ForwardResult,
  backward: Backward,
): tf.Tensor {
  const wanted = inputs.map((input) => !isFrozen(input));
  if (!wanted.includes(true)) return freeze(tf.tidy(() => forward().value));
  const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]) =>
    tf.tidy(() => backward(dy, saved, wanted).filter((_, i) => wanted[i]) as tf.Tensor[]);
  const node = tf.customGrad((...args) => {
    const save = args[args.length - 1] as tf.GradSaveFunc;
    const { value, saved } = forward();
    save(saved);
    return { value, gradFunc };
  });
  return node(...inputs.filter((_, i) => wanted[i]));
}
