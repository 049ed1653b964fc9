import * as tf from '../../tensorflow.js';
import { it } from 'vitest';
import { expectSameFunction, normal } from '../../testing/expect-same-function.js';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { normHeads } from './norm-heads.js';

await onEachBackend('normHeads', () => {
  it('has the value and the gradients of a separate norm for each head', () => {
    const composed = (x: tf.Tensor, weight: tf.Tensor) => {
      const heads = tf.reshape(x, [5, 3, 4]);
      const norm = tf.sqrt(tf.add(tf.mean(tf.square(heads), 2, true), 1e-6));
      return tf.mul(tf.reshape(tf.div(heads, norm), [5, 12]), weight);
    };
    const actual = (x: tf.Tensor, weight: tf.Tensor) => normHeads(x, weight, 4, 1e-6);
    expectSameFunction(actual, composed, [normal([5, 12], 1), normal([12], 2)]);
  });
});
