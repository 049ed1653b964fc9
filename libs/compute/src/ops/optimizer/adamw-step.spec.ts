import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { normal } from '../../testing/expect-same-function.js';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { adamWStep } from './adamw-step.js';
import type { AdamWSettings } from './adamw-step.js';

const settings: AdamWSettings = {
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-8,
  learningRate: 0.1,
  weightDecay: 0.5,
  gradientScale: 1,
  step: 1,
};

await onEachBackend('adamWStep', () => {
  it('moves by the learning rate in the first step, and decays', () => {
    // m̂ = g and √v̂ = |g|, so θ = 2 − 0.1·(1 + 0.5·2) = 1.8
    const zero = tf.zeros([1]);
    const next = adamWStep(
      { weight: tf.tensor1d([2]), first: zero, second: zero },
      tf.tensor1d([3]),
      settings,
    );
    expect(next.weight.dataSync()[0]).toBeCloseTo(1.8, 5);
    expect(next.first.dataSync()[0]).toBeCloseTo(0.3, 6);
    expect(next.second.dataSync()[0]).toBeCloseTo(0.09, 6);
  });

  it('agrees over several steps with the equations computed in doubles', () => {
    const size = 50_000;
    const start = normal([size], 1).dataSync();
    let tensors = {
      weight: tf.tensor1d(start) as tf.Tensor,
      first: tf.zeros([size]),
      second: tf.zeros([size]),
    };
    const weight = Float64Array.from(start);
    const first = new Float64Array(size);
    const second = new Float64Array(size);
    for (let step = 1; step <= 3; step++) {
      const gradient = normal([size], 10 + step);
      tensors = adamWStep(tensors, gradient, { ...settings, gradientScale: 0.25, step });
      gradient.dataSync().forEach((element, i) => {
        const g = 0.25 * element;
        first[i] = 0.9 * first[i] + 0.1 * g;
        second[i] = 0.99 * second[i] + 0.01 * g * g;
        const direction = first[i] / (1 - 0.9 ** step) / (Math.sqrt(second[i] / (1 - 0.99 ** step)) + 1e-8);
        weight[i] -= 0.1 * (direction + 0.5 * weight[i]);
      });
    }
    const worst = Array.from(tensors.weight.dataSync<'float32'>()).reduce(
      (max, x, i) => Math.max(max, Math.abs(x - weight[i])),
      0,
    );
    expect(worst).toBeLessThan(1e-5);
  });

  it('does not change a weight without gradient and decay', () => {
    const zero = tf.zeros([1]);
    const still = { ...settings, weightDecay: 0 };
    const next = adamWStep({ weight: tf.tensor1d([2]), first: zero, second: zero }, zero, still);
    expect(next.weight.dataSync()[0]).toBe(2);
  });
});
