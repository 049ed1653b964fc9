import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { expectSameFunction, normal } from '../../testing/expect-same-function.js';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { columnSum } from './column-sum.js';
import { linear } from './linear.js';

await onEachBackend('linear', () => {
  it('has the value and the gradients of x·wᵀ + b', () => {
    const composed = (x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) => tf.add(tf.matMul(x, w, false, true), b);
    expectSameFunction(linear, composed, [normal([9, 4], 1), normal([3, 4], 2), normal([3], 3)]);
  });

  it('has the value and the gradients of x·wᵀ without a bias', () => {
    const composed = (x: tf.Tensor, w: tf.Tensor) => tf.matMul(x, w, false, true);
    expectSameFunction((x, w) => linear(x, w, null), composed, [normal([9, 4], 1), normal([3, 4], 2)]);
  });

  it('columnSum: sums each column', () => {
    expect([
      ...columnSum(
        tf.tensor2d([
          [1, 2],
          [3, 4],
          [5, 6],
        ]),
      ).dataSync(),
    ]).toEqual([9, 12]);
  });
});
