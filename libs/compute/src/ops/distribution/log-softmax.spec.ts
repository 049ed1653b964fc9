import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { expectSameFunction, normal } from '../../testing/expect-same-function.js';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { logSoftmax } from './log-softmax.js';

await onEachBackend('logSoftmax', () => {
  it('has the value and the gradient of z − log Σ exp z', () => {
    const composed = (z: tf.Tensor) => tf.sub(z, tf.log(tf.sum(tf.exp(z), 1, true)));
    expectSameFunction(logSoftmax, composed, [normal([5, 43], 1)]);
  });

  it('does not overflow', () => {
    const [first, second] = logSoftmax(tf.tensor2d([[1000, 0]])).dataSync();
    expect(first).toBe(0);
    expect(second).toBe(-1000);
  });
});
