import { getPolicyLoss, listPolicyLosses } from '@retrace/algorithms';
import * as tf from '@retrace/compute/tensorflow';
import { expect, it } from 'vitest';
import { PolicyOptimizer } from '../optimizer/policy-optimizer.js';
import { Transformer } from '../model/transformer.js';
import { EVERY_TERM } from '../testing/loss-options.js';
import { onEachBackend } from '@retrace/compute/testing';
import { randomBatch, seededRandom } from '../testing/random-batch.js';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { evaluateLoss, selectBatchTokens } from './evaluate-loss.js';
import { lossNode } from './loss-node.js';
import type { LossOptions } from './loss-options.js';
import { tensorPolicyLoss } from '../testing/tensor-losses/tensor-policy-loss.js';
import type { TrainingBatch } from './training-batch.js';

/** Rules that pick tokens must pick some of so few: shares and thresholds far from the published ones. */
const picking: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  clipCov: { fraction: 0.2, lowest: -10, highest: 10, seed: 3 },
  klCov: { fraction: 0.2 },
  m2po: { threshold: 0.01 },
  opsm: { delta: 0 },
};
const names = listPolicyLosses();

function batchOf(vocabSize: number): TrainingBatch {
  const batch = randomBatch([6, 9, 4, 8, 5, 7], { vocabSize, actionShare: 0.6, seed: 3 });
  const random = seededRandom(11);
  return {
    ...batch,
    proximalLogprobs: batch.lossWeights.map(() => Math.log(1 / vocabSize) + 0.8 * (random() - 0.5)),
    behaviorLogprobs: batch.lossWeights.map(() => Math.log(1 / vocabSize) + 0.8 * (random() - 0.5)),
  };
}

const optionsFor = (policyLoss: string): LossOptions => ({
  ...EVERY_TERM,
  policyLoss,
  policyLossOptions: picking[policyLoss] ?? {},
  valueCoefficient: 0,
  entropyCoefficient: 0,
  klCoefficient: 0,
});

await onEachBackend('every policy loss of the registry, as training runs it', () => {
  it.each(names)('%s has the value and gradient of its tensor expression, within 1e-5', (name) => {
    const vocabSize = 7;
    const batch = batchOf(vocabSize);
    const options = optionsFor(name);
    const positions: number[] = [];
    const offsets = [0];
    for (let s = 0; s + 1 < batch.sequenceOffsets.length; s++) {
      for (let n = batch.sequenceOffsets[s]; n < batch.sequenceOffsets[s + 1]; n++) {
        if (batch.lossWeights[n] !== 0) positions.push(n);
      }
      offsets.push(positions.length);
    }
    const random = seededRandom(8);
    const all = batch.lossWeights.map(() => Math.log(1 / vocabSize) + 0.8 * (random() - 0.5));
    const at = (column: Float32Array) => Float32Array.from(positions, (n) => column[n]);
    const logprobs = at(all);
    const trained = {
      positions: Int32Array.from(positions),
      offsets: Int32Array.from(offsets),
      selected: selectBatchTokens(all, batch, options),
    };
    const column = (name: keyof typeof batch) => tf.tensor1d(at(batch[name] as Float32Array));
    const expected = tf.tidy(() => {
      const run = tf.valueAndGrad((x: tf.Tensor) =>
        tensorPolicyLoss(
          name,
          {
            offsets: trained.offsets,
            logprobs: x,
            proximalLogprobs: column('proximalLogprobs'),
            behaviorLogprobs: column('behaviorLogprobs'),
            advantages: column('advantages'),
            weights: column('lossWeights'),
            importanceWeights: batch.importanceWeights ? column('importanceWeights') : null,
            selected: trained.selected && tf.tensor1d(at(Float32Array.from(trained.selected))),
          },
          options.policyLossOptions,
        ),
      )(tf.tensor1d(logprobs));
      return { loss: run.value.dataSync()[0], gradients: [...run.grad.dataSync()] };
    });
    const entropies = new Float32Array(logprobs.length);
    const { value, grad } = tf.tidy(() => {
      const run = tf.valueAndGrad((x: tf.Tensor) =>
        // Three times the loss of logprobs that are themselves a function: the tape must carry both factors.
        tf.mul(
          3,
          lossNode(
            { distribution: tf.stack([tf.mul(2, x), tf.tensor1d(entropies)]), values: null },
            (outputs) => evaluateLoss(outputs, batch, trained, options),
          ),
        ),
      )(tf.tensor1d(logprobs.map((logprob) => logprob / 2)));
      return { value: run.value.dataSync()[0], grad: run.grad.dataSync() };
    });
    expect(Math.abs(value - 3 * expected.loss)).toBeLessThan(1e-5);
    expected.gradients.forEach((gradient, m) => {
      expect(Math.abs(grad[m] - 6 * gradient), `token ${m}`).toBeLessThan(1e-5);
    });
    expect(Math.max(...expected.gradients.map(Math.abs))).toBeGreaterThan(1e-3);
    if (getPolicyLoss(name).scope === 'batch') expect(trained.selected).toContain(1);
  });

  it.each(names)('%s does not depend on how a batch is cut into micro-batches', async (name) => {
    const model = Transformer.initialize(TINY_CONFIG, 4);
    const batch = batchOf(TINY_CONFIG.vocabSize);
    const run = async (maxTokensPerMicroBatch: number) => {
      const optimizer = new PolicyOptimizer(model, {
        beta1: 0.9,
        beta2: 0.95,
        epsilon: 1e-8,
        weightDecay: 0,
      });
      const terms = await optimizer.accumulate(batch, { ...optionsFor(name), maxTokensPerMicroBatch });
      const { gradientNorm } = await optimizer.apply({ learningRate: 0, maxGradientNorm: 1 });
      optimizer.dispose();
      return { ...terms, gradientNorm };
    };
    const [whole, cut] = [await run(4096), await run(9)];
    expect(cut.loss).toBeCloseTo(whole.loss, 5);
    expect(cut.clipFraction).toBeCloseTo(whole.clipFraction, 6);
    expect(cut.gradientNorm).toBeCloseTo(whole.gradientNorm, 4);
    expect(whole.gradientNorm).toBeGreaterThan(1e-4);
    model.dispose();
  });
});
