import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { expectSameFunction, normal } from '../../testing/expect-same-function.js';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { swiGlu } from './swi-glu.js';

await onEachBackend('swiGlu', () => {
  it('has the value and the gradient of the composed expression', () => {
    const composed = (gate: tf.Tensor, up: tf.Tensor) => tf.mul(tf.mul(gate, tf.sigmoid(gate)), up);
    expectSameFunction(swiGlu, composed, [normal([6, 5], 1), normal([6, 5], 2)]);
    expectSameFunction(swiGlu, composed, [normal([2000, 37], 1), normal([2000, 37], 2)]);
  });

  it('is gate·σ(gate)·up', () => {
    expect(swiGlu(tf.scalar(2), tf.scalar(3)).dataSync()[0]).toBeCloseTo((2 / (1 + Math.exp(-2))) * 3, 5);
  });

  it('stays finite for large gates of both signs', () => {
    const gradient = tf.grad((gate) => tf.sum(swiGlu(gate, tf.ones([2]))))(tf.tensor1d([-200, 200]));
    expect([...gradient.dataSync()].every(Number.isFinite)).toBe(true);
  });
});
