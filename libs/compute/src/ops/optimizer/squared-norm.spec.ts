import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { normal } from '../../testing/expect-same-function.js';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { squaredNorm } from './squared-norm.js';

await onEachBackend('squaredNorm', () => {
  it('sums the squares', () => {
    const x = normal([37, 11], 1);
    const expected = (x.dataSync() as Float32Array).reduce((sum, value) => sum + value * value, 0);
    expect(squaredNorm(x).dataSync()[0] / expected).toBeCloseTo(1, 5);
    expect(squaredNorm(tf.tensor1d([3, -4])).dataSync()[0]).toBe(25);
  });

  it('is not finite where an element is not', () => {
    expect(squaredNorm(tf.tensor1d([1, Infinity])).dataSync()[0]).toBe(Infinity);
    expect(squaredNorm(tf.tensor1d([1, NaN])).dataSync()[0]).toBeNaN();
  });
});
