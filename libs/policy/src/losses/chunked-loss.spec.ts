import * as tf from '@retrace/compute/tensorflow';
import { expect, it } from 'vitest';
import { normal, onEachBackend } from '@retrace/compute/testing';
import { freeze } from '@retrace/compute';
import { chunkedLoss, tokensOfChunk } from './chunked-loss.js';
import type { EvaluateTokens } from './chunked-loss.js';

const targets = Int32Array.of(2, 0, 6, 6, 3);
const weights = Float32Array.of(0.5, -1, 2, 0.25, 1);
const TEMPERATURE = 0.7;

/** Σ w (log π² + 0.3·H + V³) with its derivatives. */
const evaluate: EvaluateTokens = ({ logprobs, entropies, values }, from, to) => {
  const w = weights.subarray(from, to);
  const v = values ?? new Float32Array(to - from);
  const loss = w.reduce((sum, wm, m) => sum + wm * (logprobs[m] ** 2 + 0.3 * entropies[m] + v[m] ** 3), 0);
  return {
    sums: { loss } as ReturnType<EvaluateTokens>['sums'],
    gradients: {
      logprobs: w.map((wm, m) => 2 * wm * logprobs[m]),
      entropies: w.map((wm) => 0.3 * wm),
      values: values === null ? null : w.map((wm, m) => 3 * wm * v[m] ** 2),
    },
  };
};

/** The same loss of plain tfjs. */
function plainLoss(hidden: tf.Tensor, head: tf.Tensor, values: tf.Tensor): tf.Scalar {
  const logp = tf.logSoftmax(tf.div(tf.matMul(hidden, head, false, true), TEMPERATURE));
  const chosen = tf.sum(tf.mul(logp, tf.oneHot(tf.tensor1d(targets, 'int32'), 7, 1, 0, 'float32')), 1);
  const entropy = tf.neg(tf.sum(tf.mul(tf.exp(logp), logp), 1));
  const tokens = tf.addN([tf.square(chosen), tf.mul(entropy, 0.3), tf.mul(values, tf.square(values))]);
  return tf.sum(tf.mul(tokens, tf.tensor1d(weights)));
}

const inputs = () => [normal([5, 4], 1), normal([7, 4], 2), normal([5], 3)];

function valueAndGradients(f: () => tf.Scalar, xs: tf.Tensor[]): number[][] {
  const { value, grads } = tf.valueAndGrads(f)(xs);
  return [value, ...grads].map((tensor) => [...tensor.dataSync()]);
}

function expectClose(actual: number[][], expected: number[][], tolerance: number): void {
  expect(actual.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
  const differences = actual.flat().map((x, i) => Math.abs(x - expected.flat()[i]));
  expect(Math.max(...differences)).toBeLessThan(tolerance * Math.max(...expected.flat().map(Math.abs)));
}

await onEachBackend('chunkedLoss', () => {
  it.each([1, 2, 3, 5, 9])(
    'has the value and gradients of the plain expression in chunks of %i',
    (chunkTokens) => {
      const [hidden, head, values] = inputs();
      const expected = valueAndGradients(() => plainLoss(hidden, head, values), [hidden, head, values]);
      const chunked = () =>
        chunkedLoss({ hidden, head, values, targets }, { temperature: TEMPERATURE, chunkTokens }, evaluate);
      expectClose(valueAndGradients(chunked, [hidden, head, values]), expected, 1e-5);
    },
  );

  it('differentiates only by the hidden states when the head is frozen and there are no values', () => {
    const [hidden, head] = inputs();
    const expected = valueAndGradients(() => plainLoss(hidden, head, tf.zeros([5])), [hidden]);
    freeze(head);
    const chunked = () =>
      chunkedLoss(
        { hidden, head, values: null, targets },
        { temperature: TEMPERATURE, chunkTokens: 2 },
        evaluate,
      );
    expectClose(valueAndGradients(chunked, [hidden]), expected, 1e-5);
  });

  it('never holds the logits of more than a chunk, and leaves nothing behind', () => {
    const numTokens = 64;
    const [hidden, head] = [normal([numTokens, 4], 1), normal([1000, 4], 2)];
    let mostBytes = 0;
    const watch: EvaluateTokens = ({ logprobs, entropies }, from, to) => {
      mostBytes = Math.max(mostBytes, tf.memory().numBytes);
      const zeros = new Float32Array(to - from);
      void [logprobs, entropies];
      return {
        sums: { loss: 0 } as ReturnType<EvaluateTokens>['sums'],
        gradients: { logprobs: zeros, entropies: zeros, values: null },
      };
    };
    const input = { hidden, head, values: null, targets: new Int32Array(numTokens) };
    const step = () =>
      tf.dispose(
        tf.grads(() => chunkedLoss(input, { temperature: 1, chunkTokens: 4 }, watch))([hidden, head]),
      );
    step();
    const before = tf.memory();
    mostBytes = 0;
    step();
    expect(tf.memory().numTensors).toBe(before.numTensors);
    // Logits of all tokens would be 256,000 bytes.
    expect(mostBytes - before.numBytes).toBeLessThan(100_000);
  });
});

it('takes chunks of 32 MiB, of at least 128 tokens where 64 MiB allow it', () => {
  expect(tokensOfChunk(8192)).toBe(1024);
  expect(tokensOfChunk(100_000)).toBe(128);
  expect(tokensOfChunk(151_936)).toBe(110);
  expect(tokensOfChunk(2 ** 26)).toBe(1);
});
