import * as tf from '@retrace/compute/tensorflow';
import { expect, it } from 'vitest';
import { expectSameFunction, normal, onEachBackend } from '@retrace/compute/testing';
import { likeliestIds, tokenDistribution } from './token-distribution.js';

const targets = Int32Array.of(2, 0, 6, 6, 3);
const inputs = () => [normal([5, 4], 1), normal([7, 4], 2)];

await onEachBackend('tokenDistribution', () => {
  it('has the values and the gradients of the composed expression', () => {
    const composed = (hidden: tf.Tensor, head: tf.Tensor) => {
      const logits = tf.div(tf.matMul(hidden, head, false, true), 0.7);
      const logp = tf.sub(logits, tf.logSumExp(logits, 1, true));
      const oneHot = tf.oneHot(tf.tensor1d(targets, 'int32'), 7, 1, 0, 'float32');
      const entropy = tf.neg(tf.sum(tf.mul(tf.exp(logp), logp), 1));
      return tf.stack([tf.sum(tf.mul(logp, oneHot), 1), entropy]);
    };
    const actual = (hidden: tf.Tensor, head: tf.Tensor) =>
      tokenDistribution(hidden, head, targets, { temperature: 0.7 });
    expectSameFunction(actual, composed, inputs());
  });

  it.each([7, 14, 21])('gives the same in chunks of at most %i logits', (maxLogits) => {
    const whole = (hidden: tf.Tensor, head: tf.Tensor) =>
      tokenDistribution(hidden, head, targets, { temperature: 0.7 });
    const chunked = (hidden: tf.Tensor, head: tf.Tensor) =>
      tokenDistribution(hidden, head, targets, { temperature: 0.7, maxLogits });
    expectSameFunction(chunked, whole, inputs(), 1e-6);
  });

  it('is exact far out: logits of ±1,000 give a certain and an impossible token', () => {
    const head = tf.tensor2d([[1000], [-1000]]);
    const [certain, impossible] = tokenDistribution(tf.ones([2, 1]), head, Int32Array.of(0, 1), {
      temperature: 1,
    }).arraySync() as number[][];
    expect(certain).toEqual([0, -2000]);
    expect(impossible.map(Math.abs)).toEqual([0, 0]);
  });
});

await onEachBackend('likeliestIds', () => {
  it('keeps the logits of no chunk, also where nothing is tidied until all are done', () => {
    const [numRows, vocabSize, topK] = [64, 500, 2];
    const options = { temperature: 1, topK, vocabSize, maxLogits: 8 * vocabSize };
    tf.tidy(() => {
      const [hidden, head] = [normal([numRows, 4], 1), normal([vocabSize, 4], 2)];
      const before = tf.memory().numBytes;
      const { ids } = likeliestIds(hidden, head, options);
      const logits = tf.matMul(hidden, head, false, true);
      expect(ids.arraySync()).toEqual(tf.topk(logits, topK).indices.arraySync());
      logits.dispose();
      expect(tf.memory().numBytes - before).toBeLessThan(4 * numRows * vocabSize);
    });
  });
});
