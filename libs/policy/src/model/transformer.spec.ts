import * as tf from '@retrace/compute/tensorflow';
import { describe, expect, it } from 'vitest';
import { evaluateLogprobs } from '../logprobs/evaluate-logprobs.js';
import { PolicyOptimizer } from '../optimizer/policy-optimizer.js';
import { computeGradients } from '../testing/gradients-of.js';
import { imitation } from '../testing/loss-options.js';
import { onEachBackend } from '@retrace/compute/testing';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import {
  goldenBatch,
  goldenModel,
  GOLDEN_MODEL_NAMES,
  meanCrossEntropyBatch,
  transformerGolden,
} from '../testing/transformer-golden.js';
import type { NamedTensors } from '../parameters/named-tensors.js';
import { Transformer } from './transformer.js';

const { tolerances, models } = transformerGolden;

await onEachBackend('Transformer', () => {
  describe.each(GOLDEN_MODEL_NAMES)('against transformers, %s', (name) => {
    it.each([6, 4096])('has its logprobs in micro-batches of %i tokens', async (maxTokensPerMicroBatch) => {
      const model = goldenModel(name);
      const batch = goldenBatch();
      const { logprobs } = await evaluateLogprobs(model, batch, { temperature: 1, maxTokensPerMicroBatch });
      const expected = models[name].logprobs.flatMap((row) => [0, ...row]);
      expect(maxDifference(logprobs, expected)).toBeLessThan(tolerances.logprob);
      model.dispose();
    });

    it('has its gradients of the mean cross-entropy', async () => {
      const model = goldenModel(name);
      const gradients = await computeGradients(model, meanCrossEntropyBatch(), imitation);
      for (const [parameter, { data }] of Object.entries(models[name].gradients)) {
        const scale = Math.max(...data.map(Math.abs));
        const actual = gradients.get(parameter)!.data;
        expect(maxDifference(actual, data) / scale, parameter).toBeLessThan(tolerances.relative);
      }
      model.dispose();
    });
  });

  it.each(GOLDEN_MODEL_NAMES)('takes one step of torch.optim.AdamW as torch does, %s', async (name) => {
    const { oneStep, oneStepWeights } = models[name];
    const model = goldenModel(name);
    const optimizer = new PolicyOptimizer(model, oneStep);
    await optimizer.accumulate(meanCrossEntropyBatch(), imitation);
    await optimizer.apply(oneStep);
    const weights = await model.exportTensors();
    for (const [parameter, { data }] of Object.entries(oneStepWeights)) {
      const scale = data.reduce((max, x) => Math.max(max, Math.abs(x)), 0);
      const actual = weights.get(parameter)!.data;
      expect(maxDifference(actual, data) / scale, parameter).toBeLessThan(tolerances.relative);
    }
    optimizer.dispose();
    model.dispose();
  });

  it('gives back the weights it was given, bit for bit', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 3);
    const copy = Transformer.fromTensors(TINY_CONFIG, await model.exportTensors());
    expectEqualTensors(await copy.exportTensors(), await model.exportTensors());
    model.dispose();
    copy.dispose();
  });

  it('clones into a model whose weights change independently', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 3);
    const before = await model.exportTensors();
    const clone = model.clone();
    model.assignTensors(await Transformer.initialize(TINY_CONFIG, 4).exportTensors());
    expectEqualTensors(await clone.exportTensors(), before);
    expect((await model.exportTensors()).get('model.norm.weight')).toEqual(before.get('model.norm.weight'));
    expect((await model.exportTensors()).get('lm_head.weight')).not.toEqual(before.get('lm_head.weight'));
  });

  it('frees all its tensors', async () => {
    const before = tf.memory().numTensors;
    const model = Transformer.initialize(TINY_CONFIG, 3);
    await evaluateLogprobs(model, goldenBatch19(), { temperature: 1, maxTokensPerMicroBatch: 64 });
    model.assignTensors(await model.exportTensors());
    model.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('refuses weights that do not fit, and keeps its own', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 3);
    const before = await model.exportTensors();
    const missing = new Map(before);
    missing.delete('model.layers.1.mlp.up_proj.weight');
    const misshapen = new Map(before).set('lm_head.weight', { shape: [2], data: new Float32Array(2) });
    expect(() => {
      model.assignTensors(missing);
    }).toThrow(/model\.layers\.1\.mlp\.up_proj\.weight is missing/);
    expect(() => {
      model.assignTensors(misshapen);
    }).toThrow(/lm_head\.weight has shape \[2\]; the model needs \[19, 16\]/);
    expectEqualTensors(await model.exportTensors(), before);
    model.dispose();
  });
});

/** The golden sequences with ids that the tiny vocabulary has. */
function goldenBatch19() {
  const batch = goldenBatch();
  return { ...batch, tokenIds: batch.tokenIds.map((id) => id % TINY_CONFIG.vocabSize) };
}

function expectEqualTensors(actual: NamedTensors, expected: NamedTensors): void {
  expect([...actual.keys()]).toEqual([...expected.keys()]);
  for (const [name, { shape, data }] of expected) {
    expect(actual.get(name)!.shape, name).toEqual(shape);
    expect(maxDifference(actual.get(name)!.data, data), name).toBe(0);
  }
}

function maxDifference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(actual.length).toBe(expected.length);
  return Array.from(actual).reduce((max, value, i) => Math.max(max, Math.abs(value - expected[i])), 0);
}
