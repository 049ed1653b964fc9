import * as tf from '../tensorflow.js';
import { expect } from 'vitest';
import './tfjs-gradients.js';

/** A differentiable function of tensors. */
export type TensorFunction = (...inputs: tf.Tensor[]) => tf.Tensor;

/** Compares two functions at `inputs`: their values, and the gradients of Σ value·weights for fixed weights. */
export function expectSameFunction(
  actual: TensorFunction,
  expected: TensorFunction,
  inputs: readonly tf.Tensor[],
  tolerance = 1e-4,
): void {
  const [actualValue, ...actualGradients] = valueAndGradients(actual, inputs);
  const [expectedValue, ...expectedGradients] = valueAndGradients(expected, inputs);
  expectClose('value', actualValue, expectedValue, tolerance);
  inputs.forEach((_, input) => {
    expectClose(`gradient of input ${input}`, actualGradients[input], expectedGradients[input], tolerance);
  });
}

/** Standard normal numbers, the same for the same seed. */
export function normal(shape: number[], seed: number): tf.Tensor {
  return tf.randomNormal(shape, 0, 1, 'float32', seed);
}

function valueAndGradients(f: TensorFunction, inputs: readonly tf.Tensor[]): Values[] {
  const tensors = tf.tidy(() => {
    let value: tf.Tensor | undefined;
    const weighted = (...args: tf.Tensor[]): tf.Scalar => {
      const result = f(...args);
      value = tf.keep(tf.clone(result));
      const weights = Float32Array.from({ length: result.size }, (_, i) => Math.cos(i));
      return tf.sum(tf.mul(result, tf.tensor(weights, result.shape)));
    };
    const gradients = tf.grads(weighted)([...inputs]);
    return [value as unknown as tf.Tensor, ...gradients];
  });
  const values = tensors.map((tensor) => ({ shape: tensor.shape, data: Array.from(tensor.dataSync()) }));
  tf.dispose(tensors);
  return values;
}

interface Values {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

/** Relative to the largest expected element. */
function expectClose(what: string, actual: Values, expected: Values, tolerance: number): void {
  expect(actual.shape, `shape of ${what}`).toEqual(expected.shape);
  const scale = expected.data.reduce((max, x) => Math.max(max, Math.abs(x)), 1);
  const worst = expected.data.reduce((max, x, i) => Math.max(max, Math.abs(x - actual.data[i])), 0);
  expect(worst / scale, `error of ${what}`).toBeLessThan(tolerance);
}
