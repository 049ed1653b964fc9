import * as tf from '@retrace/compute/tensorflow';
import { describe, expect, it } from 'vitest';
import { readAdapter } from '../hugging-face/adapter-files.js';
import type { LoraConfig } from './lora-config.js';
import { PolicyOptimizer } from '../optimizer/policy-optimizer.js';
import { evaluateLogprobs } from '../logprobs/evaluate-logprobs.js';
import { computeGradients } from '../testing/gradients-of.js';
import { computeLogits, relativeDifference } from '../testing/logits-of.js';
import { EVERY_TERM, imitation } from '../testing/loss-options.js';
import { onEachBackend } from '@retrace/compute/testing';
import { randomBatch } from '../testing/random-batch.js';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import {
  goldenBatch,
  goldenModel,
  goldenModelDirectory,
  GOLDEN_MODEL_NAMES,
  meanCrossEntropyBatch,
  transformerGolden,
} from '../testing/transformer-golden.js';
import type { GoldenModelName } from '../testing/transformer-golden.js';
import { Transformer } from './transformer.js';

const { tolerances, models, sequences } = transformerGolden;
const lora: LoraConfig = { rank: 2, alpha: 4, targets: ['q_proj', 'v_proj', 'down_proj'] };
const scoring = { temperature: 1, maxTokensPerMicroBatch: 4096 };

async function adaptedModel(name: GoldenModelName): Promise<Transformer> {
  const { lora: config } = await readAdapter(`${goldenModelDirectory(name)}/adapter`);
  return goldenModel(name, { lora: config });
}

await onEachBackend('Adapters', () => {
  describe.each(GOLDEN_MODEL_NAMES)('against peft, %s', (name) => {
    const golden = models[name].lora;

    it('have its logprobs', async () => {
      const model = await adaptedModel(name);
      const { logprobs } = await evaluateLogprobs(model, goldenBatch(), scoring);
      const expected = golden.logprobs.flatMap((row) => [0, ...row]);
      expect(maxDifference(logprobs, expected)).toBeLessThan(tolerances.logprob);
      model.dispose();
    });

    it('have its gradients, and nothing else has one', async () => {
      const model = await adaptedModel(name);
      const gradients = await computeGradients(model, meanCrossEntropyBatch(), imitation);
      expect([...gradients.keys()].sort()).toEqual(Object.keys(golden.gradients).sort());
      for (const [parameter, { data }] of Object.entries(golden.gradients)) {
        expectRelative(gradients.get(parameter)!.data, data, parameter);
      }
      model.dispose();
    });

    it('take its step of AdamW, and the base does not change', async () => {
      const model = await adaptedModel(name);
      const before = await model.exportTensors();
      const optimizer = new PolicyOptimizer(model, golden.oneStep);
      await optimizer.accumulate(meanCrossEntropyBatch(), imitation);
      const { gradientNorm } = await optimizer.apply(golden.oneStep);
      expect(gradientNorm / golden.oneStep.gradientNorms[0]).toBeCloseTo(1, 4);
      const after = await model.exportTensors();
      const trained = new Set(Object.keys(golden.oneStepWeights));
      for (const [parameter, { data }] of after) {
        if (trained.has(parameter)) {
          expectRelative(data, golden.oneStepWeights[parameter].data, parameter);
        } else {
          expect(maxDifference(data, before.get(parameter)!.data), parameter).toBe(0);
        }
      }
      optimizer.dispose();
      model.dispose();
    });

    it('have its logits once they are merged', async () => {
      const model = await adaptedModel(name);
      const merged = model.merge();
      expect(merged.config.lora).toBeUndefined();
      expectRelative(await computeLogits(merged, sequences[0]), golden.mergedLogits.data, 'logits');
      model.dispose();
      merged.dispose();
    });
  });

  it('start with the logits of the base, and train a critic with its own trunk', async () => {
    const base = Transformer.initialize(TINY_CONFIG, 3);
    const model = Transformer.initialize({ ...TINY_CONFIG, lora, valueTrunk: 'own' }, 3);
    const batch = randomBatch([9, 5], { vocabSize: TINY_CONFIG.vocabSize, actionShare: 0.7, seed: 1 });
    const expected = await evaluateLogprobs(base, batch, scoring);
    const actual = await evaluateLogprobs(model, batch, scoring);
    expect(maxDifference(actual.logprobs, expected.logprobs)).toBeLessThan(1e-5);
    expect(maxDifference(actual.values!, expected.values!)).toBeLessThan(1e-5);

    const names = async (change: object) => {
      const gradients = await computeGradients(model, batch, { ...EVERY_TERM, ...change });
      return [...gradients].filter(([, { data }]) => data.some((x) => x !== 0)).map(([name]) => name);
    };
    const ofPolicy = await names({ valueCoefficient: 0 });
    expect(ofPolicy.length).toBeGreaterThan(0);
    // With B at zero, A has no gradient yet.
    expect(ofPolicy.every((name) => /^base_model.*lora_B/.test(name))).toBe(true);
    const ofBoth = await names({});
    expect(ofBoth.filter((name) => !ofPolicy.includes(name)).sort()[0]).toMatch(
      /^critic\.base_model.*lora_B/,
    );
    expect(ofBoth).toContain('value_head.weight');
    base.dispose();
    model.dispose();
  });

  it('leave nothing behind', async () => {
    const before = tf.memory().numTensors;
    const model = Transformer.initialize({ ...TINY_CONFIG, lora, valueTrunk: 'own' }, 3);
    const optimizer = new PolicyOptimizer(model, { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 });
    const batch = randomBatch([9, 5], { vocabSize: TINY_CONFIG.vocabSize, actionShare: 0.7, seed: 1 });
    await optimizer.accumulate(batch, EVERY_TERM);
    await optimizer.apply({ learningRate: 1e-3, maxGradientNorm: 1 });
    model.parameters.assign(await model.parameters.export(model.trainableSpecs), model.trainableSpecs);
    const merged = model.merge();
    merged.dispose();
    optimizer.dispose();
    model.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});

function expectRelative(actual: ArrayLike<number>, expected: ArrayLike<number>, what: string): void {
  expect(relativeDifference(actual, expected), what).toBeLessThan(tolerances.relative);
}

function maxDifference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(actual.length).toBe(expected.length);
  return Array.from(actual).reduce((max, value, i) => Math.max(max, Math.abs(value - expected[i])), 0);
}
