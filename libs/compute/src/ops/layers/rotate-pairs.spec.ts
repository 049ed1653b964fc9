import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { normal } from '../../testing/expect-same-function.js';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { rotatePairs } from './rotate-pairs.js';

await onEachBackend('rotatePairs', () => {
  it('multiplies pairs as complex numbers, with factors that repeat over rows', () => {
    const x = tf.tensor2d([
      [1, 2],
      [3, 4],
      [5, 6],
      [7, 8],
    ]);
    // (1 + 2i)(0 + i) = −2 + i, (3 + 4i)(2 + 0i) = 6 + 8i, and so on for the next two rows.
    const factors = tf.tensor2d([
      [0, 1],
      [2, 0],
    ]);
    expect([...rotatePairs(x, factors, false).dataSync()]).toEqual([-2, 1, 6, 8, -6, 5, 14, 16]);
    // (1 + 2i)(0 − i) = 2 − i
    expect([...rotatePairs(x, factors, true).dataSync()]).toEqual([2, -1, 6, 8, 6, -5, 14, 16]);
  });

  it('has the conjugate as its transpose: ⟨Rx, y⟩ = ⟨x, R*y⟩', () => {
    const [x, y, factors] = [normal([6, 8], 1), normal([6, 8], 2), normal([3, 8], 3)];
    const left = tf.sum(tf.mul(rotatePairs(x, factors, false), y)).dataSync()[0];
    const right = tf.sum(tf.mul(x, rotatePairs(y, factors, true))).dataSync()[0];
    expect(left).toBeCloseTo(right, 4);
  });

  it('leaks no tensor', () => {
    const [x, factors] = [normal([6, 8], 1), normal([3, 8], 3)];
    const before = tf.memory().numTensors;
    tf.tidy(() => {
      rotatePairs(x, factors, true);
    });
    expect(tf.memory().numTensors).toBe(before);
  });
});
