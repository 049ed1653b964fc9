import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { expectSameFunction, normal } from '../../testing/expect-same-function.js';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { applyNormWeight, rmsNorm } from './rms-norm.js';

const EPSILON = 1e-6;

await onEachBackend('rmsNorm', () => {
  it('has the value and the gradient of the composed expression', () => {
    const composed = (x: tf.Tensor) => tf.mul(x, tf.rsqrt(tf.add(tf.mean(tf.square(x), 1, true), EPSILON)));
    expectSameFunction((x) => rmsNorm(x, EPSILON), composed, [normal([7, 12], 1)]);
    expectSameFunction((x) => rmsNorm(x, EPSILON), composed, [normal([2000, 37], 1)]);
  });

  it('divides by the root of the mean square', () => {
    // √((3² + 4²)/2) = 5/√2
    const y = rmsNorm(tf.tensor2d([[3, 4]]), 0);
    expect(y.dataSync()[0]).toBeCloseTo((3 * Math.SQRT2) / 5, 6);
    expect(y.dataSync()[1]).toBeCloseTo((4 * Math.SQRT2) / 5, 6);
  });

  it('gives finite numbers for a row of zeros', () => {
    const gradient = tf.grad((x) => tf.sum(rmsNorm(x, EPSILON)))(tf.zeros([1, 4]));
    expect([...gradient.dataSync()].every(Number.isFinite)).toBe(true);
  });
});

await onEachBackend('applyNormWeight', () => {
  const weighted = (rows: tf.Tensor, weight: tf.Tensor, matrix: tf.Tensor) =>
    tf.matMul(tf.mul(rows, weight), matrix, false, true);
  const applied = (rows: tf.Tensor, weight: tf.Tensor, matrix: tf.Tensor) => {
    const product = applyNormWeight(weight, { rows, matrix });
    return tf.matMul(product.rows, product.matrix, false, true);
  };

  it.each([
    ['rows', 3, 8],
    ['the matrix', 8, 3],
  ])('gives the same product when %s is the smaller factor', (_, numRows, numOutputs) => {
    expectSameFunction(applied, weighted, [
      normal([numRows, 5], 1),
      normal([5], 2),
      normal([numOutputs, 5], 3),
    ]);
  });
});
