import * as tf from '@tensorflow/tfjs-core';
import { expect, it } from 'vitest';
import { expectSameFunction, normal } from '../testing/expect-same-function.js';
import { onEachBackend } from '../testing/on-each-backend.js';
import { rmsNorm } from './rms-norm.js';

const epsilon = 1e-6;

await onEachBackend('rmsNorm', () => {
  it('has the value and the gradients of the composed expression', () => {
    const composed = (x: tf.Tensor, weight: tf.Tensor) =>
      tf.mul(tf.mul(x, tf.rsqrt(tf.add(tf.mean(tf.square(x), 1, true), epsilon))), weight);
    const actual = (x: tf.Tensor, weight: tf.Tensor) => rmsNorm(x, weight, epsilon);
    expectSameFunction(actual, composed, [normal([7, 12], 1), normal([12], 2)]);
  });

  it('divides by the root of the mean square', () => {
    // √((3² + 4²)/2) = 5/√2
    const y = rmsNorm(tf.tensor2d([[3, 4]]), tf.tensor1d([1, 10]), 0);
    expect(y.dataSync()[0]).toBeCloseTo((3 * Math.SQRT2) / 5, 6);
    expect(y.dataSync()[1]).toBeCloseTo((40 * Math.SQRT2) / 5, 5);
  });

  it('keeps a row of zeros finite', () => {
    const gradient = tf.grad((x) => tf.sum(rmsNorm(x, tf.ones([4]), epsilon)))(tf.zeros([1, 4]));
    expect([...gradient.dataSync()].every(Number.isFinite)).toBe(true);
  });
});
