import * as tf from '@tensorflow/tfjs-core';

/** How the gradient tape gets from the gradient of a kernel's output to those of its inputs. */
export interface Gradient {
  /** Inputs that the gradient needs, by name; `all` for a kernel that takes a list of them. */
  readonly inputs?: readonly string[] | 'all';
  /** Whether it needs the output, which follows the saved inputs. */
  readonly output?: true;
  /** The gradient of each input, made when it is asked for. `dy` is a list where the kernel has a list of outputs. */
  of(
    dy: tf.Tensor | tf.Tensor[],
    saved: tf.Tensor[],
    attributes: Readonly<Record<string, unknown>>,
  ): Record<string, () => tf.Tensor> | (() => tf.Tensor)[];
}

/** Gradients by the names of tfjs's kernels. */
export type Gradients = Readonly<Record<string, Gradient>>;

/** The 0/1 mask of a condition, as a factor. */
export function mask(condition: tf.Tensor): tf.Tensor {
  return tf.cast(condition, 'float32');
}
