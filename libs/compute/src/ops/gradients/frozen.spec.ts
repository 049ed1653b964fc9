import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { expectSameFunction, normal } from '../../testing/expect-same-function.js';
import { freeze } from './frozen.js';
import { linear } from '../products/linear.js';
import { matMul } from '../products/mat-mul.js';
import { withGradient } from './with-gradient.js';

await onEachBackend('A frozen tensor', () => {
  it('does not change the gradients of its factors', () => {
    const [weight, bias] = [freeze(normal([3, 4], 2)), freeze(normal([3], 3))];
    const plain = (x: tf.Tensor) => tf.add(tf.matMul(x, weight, false, true), bias);
    expectSameFunction((x) => linear(x, weight, bias), plain, [normal([9, 4], 1)]);
    const product = (x: tf.Tensor) => tf.matMul(weight, x);
    expectSameFunction((x) => matMul(weight, x), product, [normal([4, 5], 1)]);
  });

  it('gets no gradient', () => {
    const [x, weight] = [normal([2], 1), freeze(normal([2], 2))];
    const asked: boolean[][] = [];
    const product = (a: tf.Tensor) =>
      withGradient(
        [a, weight],
        () => ({ value: tf.mul(a, weight), saved: [weight] }),
        (dy, [w], wanted) => {
          asked.push([...wanted]);
          return [tf.mul(dy, w), null];
        },
      );
    const gradient = tf.grad((a) => tf.sum(product(a)))(x);
    expect(asked).toEqual([[true, false]]);
    expect([...gradient.dataSync()]).toEqual([...weight.dataSync()]);
  });
});
