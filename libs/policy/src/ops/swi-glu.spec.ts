import * as tf from '@tensorflow/tfjs-core';
import { expect, it } from 'vitest';
import { expectSameFunction, normal } from '../testing/expect-same-function.js';
import { onEachBackend } from '../testing/on-each-backend.js';
import { swiGlu } from './swi-glu.js';

await onEachBackend('swiGlu', () => {
  it('has the value and the gradient of the composed expression', () => {
    const composed = (gateUp: tf.Tensor) => {
      const [gate, up] = tf.split(gateUp, 2, 1);
      return tf.mul(tf.mul(gate, tf.sigmoid(gate)), up);
    };
    expectSameFunction(swiGlu, composed, [normal([6, 10], 1)]);
  });

  it('is gate·σ(gate)·up with the gate in the first half', () => {
    expect(swiGlu(tf.tensor2d([[2, 3]])).dataSync()[0]).toBeCloseTo((2 / (1 + Math.exp(-2))) * 3, 5);
  });

  it('stays finite for large gates of both signs', () => {
    const gradient = tf.grad((x) => tf.sum(swiGlu(x)))(tf.tensor2d([[-200, 200, 1, 1]]));
    expect([...gradient.dataSync()].every(Number.isFinite)).toBe(true);
  });
});
