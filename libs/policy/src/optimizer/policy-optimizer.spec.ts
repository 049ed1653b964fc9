import * as tf from '@retrace/compute/tensorflow';
import { describe, expect, it } from 'vitest';
import { mapLossColumns, type TrainingBatch } from '../losses/training-batch.js';
import type { NamedTensors } from '../parameters/named-tensors.js';
import { Transformer } from '../model/transformer.js';
import { evaluateLogprobs } from '../logprobs/evaluate-logprobs.js';
import { valuesAtEnd } from '../logprobs/values-at-end.js';
import { computeGradients } from '../testing/gradients-of.js';
import { CheckpointFiles } from '../checkpoints/checkpoint-files.js';
import { onEachBackend, temporaryDirectory } from '@retrace/compute/testing';
import { EVERY_TERM, imitation } from '../testing/loss-options.js';
import { randomBatch } from '../testing/random-batch.js';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import {
  goldenModel,
  GOLDEN_MODEL_NAMES,
  meanCrossEntropyBatch,
  transformerGolden,
} from '../testing/transformer-golden.js';
import { optimizerState } from '../testing/optimizer-state.js';
import { PolicyOptimizer } from './policy-optimizer.js';

const lengths = [7, 12, 1, 12, 3, 25, 0, 9];
const batch = randomBatch(lengths, { vocabSize: TINY_CONFIG.vocabSize, actionShare: 0.4, seed: 4 });
const adam = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.01 };

await onEachBackend('PolicyOptimizer', () => {
  it('has loss and gradients that do not depend on the micro-batches', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const terms = await lossOf(model, batch);
    const whole = await computeGradients(model, batch, EVERY_TERM);
    for (const maxTokensPerMicroBatch of [1, 24, 40]) {
      const options = { ...EVERY_TERM, maxTokensPerMicroBatch };
      const split = await lossOf(model, batch, maxTokensPerMicroBatch);
      for (const [name, value] of Object.entries(terms)) {
        expect(split[name as keyof typeof split], name).toBeCloseTo(value, 5);
      }
      expectCloseTensors(await computeGradients(model, batch, options), whole);
    }
    model.dispose();
  });

  it.each([
    ['a value head on the trunk', TINY_CONFIG],
    ['a critic of its own', { ...TINY_CONFIG, valueTrunk: 'own' as const }],
    ['a vocabulary smaller than the batch, tied', { ...TINY_CONFIG, vocabSize: 19, tieWordEmbeddings: true }],
    [
      'adapters',
      { ...TINY_CONFIG, lora: { rank: 2, alpha: 4, targets: ['q_proj' as const, 'up_proj' as const] } },
    ],
  ])('has the same gradients, bit for bit, when layers are recomputed: %s', async (_, config) => {
    const model = Transformer.initialize(config, 1);
    const kept = await computeGradients(model, batch, EVERY_TERM);
    const recomputed = await computeGradients(model, batch, { ...EVERY_TERM, recomputeLayers: true });
    expect([...recomputed.values()].some(({ data }) => data.some((value) => value !== 0))).toBe(true);
    expectCloseTensors(recomputed, kept, 0);
    model.dispose();
  });

  it.each<[string, (model: Transformer) => Promise<unknown>]>([
    ['gradients', (model) => lossOf(model, batch, 1)],
    ['logprobs', (model) => evaluateLogprobs(model, batch, { temperature: 1, maxTokensPerMicroBatch: 1 })],
    ['values', (model) => valuesAtEnd(model, batch, { maxTokensPerMicroBatch: 1 })],
  ])(
    'gives the event loop a turn between passes, so that the process answers meanwhile: %s',
    async (_, compute) => {
      const model = Transformer.initialize(TINY_CONFIG, 1);
      let [numTurns, isOver] = [0, false];
      const turn = (): void => {
        if (isOver) return;
        numTurns += 1;
        setImmediate(turn);
      };
      setImmediate(turn);
      await compute(model);
      isOver = true;
      // A sequence of one token predicts nothing, so it has no pass.
      const numPasses = lengths.filter((length) => length > 1).length;
      expect(numTurns).toBeGreaterThanOrEqual(numPasses - 1);
      model.dispose();
    },
  );

  it('has the same gradients from a loss that sees whole sequences as from its twin that sees tokens', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const withBehavior = { ...batch, behaviorLogprobs: batch.proximalLogprobs };
    // With so high a threshold no sequence is dropped, and what is left is PPO.
    const policyLossOptions = { ...EVERY_TERM.policyLossOptions, delta: 1e6 };
    const opsm = { ...EVERY_TERM, policyLoss: 'opsm', policyLossOptions };
    expectCloseTensors(
      await computeGradients(model, withBehavior, opsm),
      await computeGradients(model, withBehavior, EVERY_TERM),
    );
    model.dispose();
  });

  it('adds up over calls of accumulate as over one call', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const whole = await computeGradients(model, batch, EVERY_TERM);
    const optimizer = new PolicyOptimizer(model, { beta1: 0, beta2: 0, epsilon: 1, weightDecay: 0 });
    for (let s = 0; s < lengths.length; s++) await optimizer.accumulate(sequencesOf(batch, [s]), EVERY_TERM);
    await optimizer.apply({ learningRate: 0, maxGradientNorm: Infinity });
    expectCloseTensors((await optimizerState(optimizer)).firstMoments, whole);
    optimizer.dispose();
    model.dispose();
  });

  it('has gradients that do not depend on the order of the sequences', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const permuted = sequencesOf(batch, [5, 0, 7, 3, 6, 2, 1, 4]);
    expectCloseTensors(
      await computeGradients(model, permuted, EVERY_TERM),
      await computeGradients(model, batch, EVERY_TERM),
    );
    model.dispose();
  });

  it('has the gradients that finite differences give', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const smooth = {
      ...EVERY_TERM,
      policyLossOptions: { clipLow: 1, clipHigh: 100, dualClip: null },
      valueClip: null,
    };
    const few = sequencesOf(batch, [0, 1, 4]);
    const gradients = await computeGradients(model, few, smooth);
    const weights = await model.exportTensors();
    const optimizer = new PolicyOptimizer(model, adam);
    const step = 1e-2;
    for (const [name, { data }] of weights) {
      const index = Math.floor(data.length / 3);
      const at = async (delta: number) => {
        const moved = Float32Array.from(data);
        moved[index] += delta;
        model.assignTensors(new Map(weights).set(name, { shape: weights.get(name)!.shape, data: moved }));
        return (await optimizer.accumulate(few, smooth)).loss;
      };
      const expected = ((await at(step)) - (await at(-step))) / (2 * step);
      expect(Math.abs(gradients.get(name)!.data[index] - expected), name).toBeLessThan(2e-3);
    }
    optimizer.dispose();
    model.dispose();
  });

  it('sees a ratio of 1 where the proximal logprobs are its own', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const options = { temperature: EVERY_TERM.temperature, maxTokensPerMicroBatch: 64 };
    const { logprobs } = await evaluateLogprobs(model, batch, options);
    const terms = await lossOf(model, { ...batch, proximalLogprobs: logprobs });
    expect(terms.ratioMaxDeviation).toBeLessThan(1e-5);
    expect(terms.clipFraction).toBe(0);
    model.dispose();
  });

  it('does not change the value head when there is no value loss', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const gradients = await computeGradients(model, batch, { ...EVERY_TERM, valueCoefficient: 0 });
    expect(gradients.get('value_head.weight')!.data.every((value) => value === 0)).toBe(true);
    expect(gradients.get('lm_head.weight')!.data.some((value) => value !== 0)).toBe(true);
    model.dispose();
  });

  describe.each(GOLDEN_MODEL_NAMES)('on %s', (name) => {
    it('takes the steps of torch.optim.AdamW with clipped gradients', async () => {
      const golden = transformerGolden.models[name].adamW;
      const model = goldenModel(name);
      const optimizer = new PolicyOptimizer(model, golden);
      for (let step = 0; step < golden.losses.length; step++) {
        const { loss } = await optimizer.accumulate(meanCrossEntropyBatch(), imitation);
        const { gradientNorm } = await optimizer.apply(golden);
        expect(loss).toBeCloseTo(golden.losses[step], 4);
        expect(gradientNorm).toBeCloseTo(golden.gradientNorms[step], 3);
      }
      const weights = await model.exportTensors();
      for (const [parameter, { data }] of Object.entries(golden.weights)) {
        const worst = data.reduce(
          (max, value, i) => Math.max(max, Math.abs(value - weights.get(parameter)!.data[i])),
          0,
        );
        expect(worst, parameter).toBeLessThan(5e-4);
      }
      optimizer.dispose();
      model.dispose();
    });
  });

  it('continues from a saved state with the same bits, and refuses the state of another model without changing its own', async () => {
    const files = new CheckpointFiles(await temporaryDirectory());
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const optimizer = new PolicyOptimizer(model, adam);
    await trainStep(optimizer);
    const resumedModel = Transformer.fromTensors(TINY_CONFIG, await model.exportTensors());
    const resumed = new PolicyOptimizer(resumedModel, adam);
    const saved = await files.open(await files.write(optimizer.stateContent()));
    await resumed.loadState(saved);
    expect(await optimizerState(resumed)).toEqual(await optimizerState(optimizer));
    const other = Transformer.initialize({ ...TINY_CONFIG, numLayers: TINY_CONFIG.numLayers + 1 }, 1);
    const ofOther = new PolicyOptimizer(other, adam);
    const before = tf.memory().numTensors;
    await expect(ofOther.loadState(saved)).rejects.toMatchObject({ code: 'TENSOR_MISMATCH' });
    expect(tf.memory().numTensors).toBe(before);
    await saved.close();
    ofOther.dispose();
    other.dispose();
    for (let step = 0; step < 2; step++) {
      await trainStep(optimizer);
      await trainStep(resumed);
    }
    expect(await resumedModel.exportTensors()).toEqual(await model.exportTensors());
    expect(await optimizerState(resumed)).toEqual(await optimizerState(optimizer));
    for (const owner of [optimizer, resumed, model, resumedModel]) owner.dispose();
  });

  it('takes no step without gradients, and clears them with each step', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const optimizer = new PolicyOptimizer(model, adam);
    const before = await model.exportTensors();
    const untrained = { ...batch, lossWeights: new Float32Array(batch.lossWeights.length) };
    expect(await optimizer.accumulate(untrained, EVERY_TERM)).toMatchObject({
      loss: 0,
      entropy: 0,
      numTokens: 0,
    });
    expect(await optimizer.apply({ learningRate: 1, maxGradientNorm: 1 })).toEqual({
      isApplied: true,
      gradientNorm: 0,
      criticGradientNorm: null,
    });
    expect(await model.exportTensors()).toEqual(before);
    await trainStep(optimizer);
    expect(await optimizer.apply({ learningRate: 1, maxGradientNorm: 1 })).toEqual({
      isApplied: true,
      gradientNorm: 0,
      criticGradientNorm: null,
    });
    optimizer.dispose();
    model.dispose();
  });

  it('drops gradients that are not finite and leaves the weights as they are', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const optimizer = new PolicyOptimizer(model, adam);
    const before = await model.exportTensors();
    const huge = { ...batch, lossWeights: batch.lossWeights.map((weight) => weight * 3e38) };
    await expect(
      optimizer
        .accumulate(huge, EVERY_TERM)
        .then(() => optimizer.apply({ learningRate: 1, maxGradientNorm: 1 })),
    ).rejects.toThrow();
    expect(await model.exportTensors()).toEqual(before);
    await trainStep(optimizer);
    optimizer.dispose();
    model.dispose();
  });

  it('holds no more tensors step after step, and none after it is disposed', async () => {
    const before = tf.memory().numTensors;
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const optimizer = new PolicyOptimizer(model, adam);
    await trainStep(optimizer);
    const afterOne = tf.memory().numTensors;
    for (let step = 0; step < 3; step++) await trainStep(optimizer);
    expect(tf.memory().numTensors).toBe(afterOne);
    await optimizer.accumulate(batch, EVERY_TERM);
    optimizer.dispose();
    model.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('refuses a batch or options that contradict each other', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const optimizer = new PolicyOptimizer(model, adam);
    const refusals: [TrainingBatch, Partial<typeof EVERY_TERM>, RegExp][] = [
      [{ ...batch, returns: null }, {}, /returns is null; the loss options need a value/],
      [{ ...batch, advantages: null }, {}, /advantages is null/],
      [{ ...batch, advantages: new Float32Array(3) }, {}, /advantages has 3 values; the batch has 69 tokens/],
      [
        { ...batch, lossWeights: batch.lossWeights.map(() => 1) },
        {},
        /first token of sequence 0 has loss weight 1/,
      ],
      [
        batch,
        { policyLossOptions: { clipLow: 0 } },
        /policy loss ppo: clipLow is 0, must be a number in \(0, 1\]/,
      ],
      [
        batch,
        { policyLoss: 'gpso', policyLossOptions: {} },
        /no policy loss is named 'gpso'; did you mean .*gspo/,
      ],
      [batch, { policyLoss: 'topr', policyLossOptions: {} }, /behaviorLogprobs is null/],
      [batch, { temperature: -1 }, /temperature is -1/],
    ];
    for (const [bad, change, message] of refusals) {
      await expect(optimizer.accumulate(bad, { ...EVERY_TERM, ...change })).rejects.toThrow(message);
    }
    optimizer.dispose();
    model.dispose();
  });
});

async function trainStep(optimizer: PolicyOptimizer): Promise<void> {
  await optimizer.accumulate(batch, EVERY_TERM);
  await optimizer.apply({ learningRate: 1e-2, maxGradientNorm: 1 });
}

async function lossOf(model: Transformer, data: TrainingBatch, maxTokensPerMicroBatch = 4096) {
  const optimizer = new PolicyOptimizer(model, adam);
  const terms = await optimizer.accumulate(data, { ...EVERY_TERM, maxTokensPerMicroBatch });
  optimizer.dispose();
  return terms;
}

/** Some sequences of a batch, in the given order. */
function sequencesOf(data: TrainingBatch, sequences: readonly number[]): TrainingBatch {
  const positions = sequences.flatMap((s) => {
    const [start, end] = [data.sequenceOffsets[s], data.sequenceOffsets[s + 1]];
    return Array.from({ length: end - start }, (_, i) => start + i);
  });
  const sequenceOffsets = new Int32Array(sequences.length + 1);
  sequences.forEach((s, i) => {
    sequenceOffsets[i + 1] = sequenceOffsets[i] + data.sequenceOffsets[s + 1] - data.sequenceOffsets[s];
  });
  const at = (column: Float32Array) => Float32Array.from(positions, (n) => column[n]);
  return {
    tokenIds: Int32Array.from(positions, (n) => data.tokenIds[n]),
    sequenceOffsets,
    lossWeights: at(data.lossWeights),
    ...mapLossColumns(data, at),
  };
}

function expectCloseTensors(actual: NamedTensors, expected: NamedTensors, tolerance = 1e-5): void {
  for (const [name, { data }] of expected) {
    const worst = data.reduce(
      (max, value, i) => Math.max(max, Math.abs(value - actual.get(name)!.data[i])),
      0,
    );
    expect(worst, name).toBeLessThanOrEqual(tolerance);
  }
}
