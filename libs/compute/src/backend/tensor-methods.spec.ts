import * as tf from '../tensorflow.js';
import { expect, it } from 'vitest';
import { onEachBackend } from '../testing/on-each-backend.js';

await onEachBackend('kernels that call methods of tensors', () => {
  it('Exp takes integers', () => {
    const powers = tf.exp(tf.tensor1d([0, 1], 'int32')).dataSync();
    expect(powers[0]).toBeCloseTo(1, 5);
    expect(powers[1]).toBeCloseTo(Math.E, 5);
  });

  it('ArgMax and ArgMin take booleans', () => {
    const flags = tf.tensor1d([false, true, false], 'bool');
    expect([...tf.argMax(flags).dataSync()]).toEqual([1]);
    expect([...tf.argMin(flags).dataSync()]).toEqual([0]);
  });

  it('Prelu scales negative numbers', () => {
    const scaled = tf.prelu(tf.tensor1d([-2, 3]), tf.tensor1d([0.25, 0.25])).dataSync();
    expect([...scaled]).toEqual([-0.5, 3]);
  });
});
