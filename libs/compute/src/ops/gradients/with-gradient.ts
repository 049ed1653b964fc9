import * as tf from '../../tensorflow.js';
import { freeze, isFrozen } from './frozen.js';

export interface ForwardResult {
  readonly value: tf.Tensor;
  /** Kept for the gradient and freed by the tape, unlike all other tensors of the forward pass. */
  readonly saved: tf.Tensor[];
}

/**
 * Computes the gradient of each input, in order, from the gradient of the value and the saved tensors. Gradients that
 * are not `wanted` may be null.
 */
export type Backward = (
  dy: tf.Tensor,
  saved: tf.Tensor[],
  wanted: readonly boolean[],
) => readonly (tf.Tensor | null)[];

/**
 * Records one node with the given gradient on the tape. The intermediate tensors of `backward` are freed when it returns.
 * Frozen inputs get no gradient; a result of frozen inputs only is frozen, and not recorded.
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
