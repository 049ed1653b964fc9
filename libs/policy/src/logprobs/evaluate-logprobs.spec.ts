import * as tf from '@retrace/compute/tensorflow';
import { expect, it } from 'vitest';
import { Transformer } from '../model/transformer.js';
import type { SequenceBatch } from '../packing/sequence-batch.js';
import { onEachBackend } from '@retrace/compute/testing';
import { randomBatch } from '../testing/random-batch.js';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { evaluateLogprobs } from './evaluate-logprobs.js';
import { valuesAtEnd } from './values-at-end.js';

const lengths = [7, 12, 1, 0, 12, 3, 25];
const batch = randomBatch(lengths, { vocabSize: TINY_CONFIG.vocabSize, actionShare: 0.3, seed: 2 });
const options = { temperature: 0.9, maxTokensPerMicroBatch: 4096 };
const TOLERANCE = 1e-5;

await onEachBackend('evaluateLogprobs', () => {
  it('does not depend on micro-batches or on which sequences share a row', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const whole = await evaluateLogprobs(model, batch, options);
    for (const maxTokensPerMicroBatch of [1, 30, 64]) {
      const split = await evaluateLogprobs(model, batch, { ...options, maxTokensPerMicroBatch });
      expectClose(split.logprobs, whole.logprobs);
      expectClose(split.entropies, whole.entropies);
      expectClose(split.values!, whole.values!);
    }
    model.dispose();
  });

  it('evaluates each sequence as if there were no others', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const whole = await evaluateLogprobs(model, batch, options);
    for (let s = 0; s < lengths.length; s++) {
      const [start, end] = [batch.sequenceOffsets[s], batch.sequenceOffsets[s + 1]];
      const alone = await evaluateLogprobs(model, single(batch.tokenIds.slice(start, end)), options);
      expectClose(whole.logprobs.subarray(start, end), alone.logprobs);
      expectClose(whole.values!.subarray(start, end), alone.values!);
    }
    model.dispose();
  });

  it('agrees with a twin that is padded at the end', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const ragged = await evaluateLogprobs(model, batch, options);
    const width = Math.max(...lengths);
    const padded = new Int32Array(lengths.length * width).fill(3);
    lengths.forEach((length, s) => {
      const start = batch.sequenceOffsets[s];
      padded.set(batch.tokenIds.subarray(start, start + length), s * width);
    });
    const sequenceOffsets = Int32Array.from({ length: lengths.length + 1 }, (_, s) => s * width);
    const twin = await evaluateLogprobs(model, { tokenIds: padded, sequenceOffsets }, options);
    lengths.forEach((length, s) => {
      const start = batch.sequenceOffsets[s];
      expectClose(
        ragged.logprobs.subarray(start, start + length),
        twin.logprobs.subarray(s * width, s * width + length),
      );
    });
    model.dispose();
  });

  it('gives 0 for first tokens and for tokens that are not asked for, and the same for those that are', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const whole = await evaluateLogprobs(model, batch, options);
    const actionMask = Uint8Array.from(batch.lossWeights, (weight) => (weight === 0 ? 0 : 1));
    const some = await evaluateLogprobs(model, batch, { ...options, actionMask, maxTokensPerMicroBatch: 40 });
    const masked = (column: Float32Array) => column.map((value, n) => value * actionMask[n]);
    expectClose(some.logprobs, masked(whole.logprobs));
    expectClose(some.entropies, masked(whole.entropies));
    expectClose(some.values!, masked(whole.values!));
    lengths.forEach((length, s) => {
      if (length > 0) expect(whole.logprobs[batch.sequenceOffsets[s]]).toBe(0);
    });
    model.dispose();
  });

  it('sums to 1 over the vocabulary, with the entropy of that distribution', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const { vocabSize } = TINY_CONFIG;
    const prefix = [4, 8, 15];
    const tokenIds = Int32Array.from({ length: 4 * vocabSize }, (_, n) =>
      n % 4 === 3 ? Math.floor(n / 4) : prefix[n % 4],
    );
    const sequenceOffsets = Int32Array.from({ length: vocabSize + 1 }, (_, s) => 4 * s);
    const scores = await evaluateLogprobs(model, { tokenIds, sequenceOffsets }, options);
    const logprobs = Array.from({ length: vocabSize }, (_, s) => scores.logprobs[4 * s + 3]);
    const entropy = logprobs.reduce((sum, logp) => sum - Math.exp(logp) * logp, 0);
    expect(logprobs.reduce((sum, logp) => sum + Math.exp(logp), 0)).toBeCloseTo(1, 5);
    for (let s = 0; s < vocabSize; s++) expect(scores.entropies[4 * s + 3]).toBeCloseTo(entropy, 4);
    expect(scores.sumSquaredProbabilities).toBeNull();
    const squares = logprobs.reduce((sum, logp) => sum + Math.exp(2 * logp), 0);
    const asked = await evaluateLogprobs(
      model,
      { tokenIds, sequenceOffsets },
      { ...options, squaredProbabilities: true },
    );
    for (let s = 0; s < vocabSize; s++)
      expect(asked.sumSquaredProbabilities?.[4 * s + 3]).toBeCloseTo(squares, 5);
    expectClose(asked.values!, scores.values!);
    model.dispose();
  });

  it('refuses a batch that contradicts itself, before computing', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const refusals: [SequenceBatch, RegExp][] = [
      [{ tokenIds: Int32Array.of(1, 19), sequenceOffsets: Int32Array.of(0, 2) }, /token 1 has id 19/],
      [
        { tokenIds: Int32Array.of(1), sequenceOffsets: Int32Array.of(0, 2) },
        /sequenceOffsets run from 0 to 2/,
      ],
      [single(new Int32Array(65)), /sequence 0 has 65 tokens; it must have between 0 and maxPositions, 64/],
    ];
    for (const [bad, message] of refusals)
      await expect(evaluateLogprobs(model, bad, options)).rejects.toThrow(message);
    model.dispose();
  });

  it('leaves no tensors behind but the rotary table of the model', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const before = tf.memory().numTensors;
    await evaluateLogprobs(model, batch, options);
    await valuesAtEnd(model, batch);
    expect(tf.memory().numTensors).toBe(before + 1);
    model.dispose();
  });
});

await onEachBackend('valuesAtEnd', () => {
  it('is the value of the state after the last token', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const atEnd = await valuesAtEnd(model, batch, { maxTokensPerMicroBatch: 30 });
    expect(atEnd.length).toBe(lengths.length);
    for (let s = 0; s < lengths.length; s++) {
      if (lengths[s] === 0) {
        expect(atEnd[s]).toBe(0);
        continue;
      }
      // V of the state in which a further token, whichever, is chosen.
      const sequence = batch.tokenIds.slice(batch.sequenceOffsets[s], batch.sequenceOffsets[s + 1]);
      const { values } = await evaluateLogprobs(model, single(Int32Array.of(...sequence, 0)), options);
      expect(Math.abs(atEnd[s] - values![lengths[s]])).toBeLessThan(TOLERANCE);
    }
    model.dispose();
  });

  it('refuses a model without a value head', async () => {
    const model = Transformer.initialize({ ...TINY_CONFIG, valueHead: false }, 1);
    await expect(valuesAtEnd(model, batch)).rejects.toMatchObject({ code: 'INVALID_CONFIG' });
    model.dispose();
  });
});

function single(tokenIds: Int32Array): SequenceBatch {
  return { tokenIds, sequenceOffsets: Int32Array.of(0, tokenIds.length) };
}

function expectClose(actual: Float32Array, expected: Float32Array): void {
  expect(actual.length).toBe(expected.length);
  const worst = actual.reduce((max, value, n) => Math.max(max, Math.abs(value - expected[n])), 0);
  expect(worst).toBeLessThan(TOLERANCE);
}
