import * as tf from '@tensorflow/tfjs-core';

export interface ForwardResult {
  readonly value: tf.Tensor;
  /** Kept for the gradient; freed by the tape. Nothing else of the forward pass outlives it. */
  readonly saved: tf.Tensor[];
}

/**
 * One node of the gradient tape with a gradient of its own: `backward` gets the gradient of the value and what
 * `forward` saved, and returns the gradient of each input, in order.
 */
export function withGradient(
  inputs: readonly tf.Tensor[],
  forward: () => ForwardResult,
  backward: (dy: tf.Tensor, saved: tf.Tensor[]) => tf.Tensor[],
): tf.Tensor {
  const node = tf.customGrad((...args) => {
    const save = args[args.length - 1] as tf.GradSaveFunc;
    const { value, saved } = forward();
    save(saved);
    return { value, gradFunc: backward };
  });
  return node(...inputs);
}
