import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { expectSameFunction, normal } from '../../testing/expect-same-function.js';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { targetStatistics, targetStatisticsGradient, type ChosenIds } from './target-statistics.js';
import { withGradient } from '../gradients/with-gradient.js';

/** The two functions as one differentiable one. */
function statistics(
  logits: tf.Tensor,
  targets: Int32Array,
  temperature: number,
  chosen: ChosenIds | null = null,
): tf.Tensor {
  const forward = () => {
    const { value, state } = targetStatistics(logits, targets, temperature, chosen);
    return { value, saved: [value, state] };
  };
  return withGradient([logits], forward, (dy, [value, state]) => [
    targetStatisticsGradient(dy, { value, state }, targets, temperature, chosen),
  ]);
}

await onEachBackend('targetStatistics', () => {
  it.each([
    [3, 5, 1],
    [200, 43, 0.7],
    [40, 1000, 2],
    [4, 16, 1],
  ])(
    'has the values and the gradient of the composed expression: %i rows of %i',
    (numRows, vocabSize, temperature) => {
      const targets = Int32Array.from({ length: numRows }, (_, row) => (row * 7) % vocabSize);
      const composed = (logits: tf.Tensor) => {
        const scaled = tf.div(logits, temperature);
        const logp = tf.sub(scaled, tf.logSumExp(scaled, 1, true));
        const oneHot = tf.oneHot(tf.tensor1d(targets, 'int32'), vocabSize, 1, 0, 'float32');
        return tf.stack([tf.sum(tf.mul(logp, oneHot), 1), tf.neg(tf.sum(tf.mul(tf.exp(logp), logp), 1))]);
      };
      expectSameFunction((logits) => statistics(logits, targets, temperature), composed, [
        tf.mul(normal([numRows, vocabSize], 1), 3),
      ]);
    },
  );

  it.each([
    [3, 5, 5, 1],
    [40, 1000, 4, 2],
  ])('has them of chosen ids too: %i rows of %i, %i chosen', (numRows, vocabSize, numPerRow, temperature) => {
    const targets = Int32Array.from({ length: numRows }, (_, row) => (row * 7) % vocabSize);
    // The target of some rows is chosen, and so is one id twice.
    const ids = Int32Array.from({ length: numRows * numPerRow }, (_, i) => (i * i) % vocabSize);
    const composed = (logits: tf.Tensor) => {
      const logp = tf.logSoftmax(tf.div(logits, temperature));
      const at = (row: (m: number) => number) => {
        const places = Int32Array.from(targets, (_, m) => row(m));
        return tf.sum(tf.mul(logp, tf.oneHot(tf.tensor1d(places, 'int32'), vocabSize, 1, 0, 'float32')), 1);
      };
      const entropies = tf.neg(tf.sum(tf.mul(tf.exp(logp), logp), 1));
      const ofChosen = Array.from({ length: numPerRow }, (_, i) => at((m) => ids[m * numPerRow + i]));
      return tf.stack([at((m) => targets[m]), entropies, ...ofChosen]);
    };
    expectSameFunction((logits) => statistics(logits, targets, temperature, { numPerRow, ids }), composed, [
      tf.mul(normal([numRows, vocabSize], 1), 3),
    ]);
  });

  it('gives the entropy log V for equal logits of any size', () => {
    const { value } = targetStatistics(tf.fill([1, 20], 500), Int32Array.of(3), 1);
    const [logprob, entropy] = value.dataSync();
    expect(logprob).toBeCloseTo(-Math.log(20), 4);
    expect(entropy).toBeCloseTo(Math.log(20), 4);
  });

  it('returns NaN for a NaN', () => {
    const { value } = targetStatistics(tf.tensor2d([[1, NaN, 2]]), Int32Array.of(0), 1);
    expect(value.dataSync()[0]).toBeNaN();
  });
});
