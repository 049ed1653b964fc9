import { listPolicyLosses } from '@retrace/algorithms';
import { onEachBackend } from '@retrace/compute/testing';
import * as tf from '@retrace/compute/tensorflow';
import { expect, it } from 'vitest';
import { tokenDistribution } from '../logprobs/token-distribution.js';
import { computeValues } from '../logprobs/value-head.js';
import { hiddenAtReads, toDevice } from '../model/forward.js';
import { Transformer } from '../model/transformer.js';
import { PolicyOptimizer } from '../optimizer/policy-optimizer.js';
import { predictingPositions } from '../packing/read-mask.js';
import { packSequences } from '../packing/sequence-pack.js';
import { EVERY_TERM } from '../testing/loss-options.js';
import { randomBatch, seededRandom } from '../testing/random-batch.js';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import {
  accumulateLoss,
  cutMicroBatches,
  type MicroBatch,
  type OutputGradients,
  type PassOptions,
  type TokenPasses,
} from './accumulate-loss.js';
import type { LossOptions } from './loss-options.js';

const LENGTHS = [6, 9, 4, 0, 8, 5, 7];
const ADAMW = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 };

const random = seededRandom(11);
const drawn = randomBatch(LENGTHS, { vocabSize: TINY_CONFIG.vocabSize, actionShare: 0.6, seed: 3 });
const batch = {
  ...drawn,
  behaviorLogprobs: drawn.lossWeights.map(() => Math.log(1 / TINY_CONFIG.vocabSize) + 0.8 * (random() - 0.5)),
};

/** A model whose passes know nothing of losses: outputs out, Σ g·output back. */
class PlainPasses implements TokenPasses {
  readonly limits = TINY_CONFIG;
  readonly gradients = new Map<string, Float32Array>();
  private kept: { readonly microBatch: MicroBatch; readonly options: PassOptions } | null = null;

  constructor(private readonly model: Transformer) {}

  forward(microBatch: MicroBatch, options: PassOptions) {
    if (options.keepsGraph) this.kept = { microBatch, options };
    const { chosen } = options;
    const rows = tf.tidy(() => {
      const { distribution, values } = this.prepare(microBatch, options)();
      const ofChosen = tf.transpose(tf.slice(distribution, [2, 0]));
      return [values, ...tf.unstack(distribution).slice(0, 2), ofChosen].map((x) => [...x.dataSync()]);
    });
    const [values, logprobs, entropies, topLogprobs] = rows.map((row) => Float32Array.from(row));
    return Promise.resolve({ logprobs, entropies, values, topLogprobs: chosen && topLogprobs });
  }

  backward({ logprobs, entropies, values, topLogprobs }: OutputGradients): Promise<void> {
    if (this.kept === null) throw new Error('no forward pass was kept');
    const { microBatch, options } = this.kept;
    this.kept = null;
    const keys = this.model.trainableSpecs.map(({ key }) => key);
    tf.tidy(() => {
      const outputs = this.prepare(microBatch, options);
      const zeros = new Float32Array(logprobs.length);
      const [M, k] = [logprobs.length, options.chosen?.numPerRow ?? 0];
      const ofBoth = tf.tensor2d([...logprobs, ...(entropies ?? zeros)], [2, M]);
      const ofDistribution = topLogprobs
        ? tf.concat([ofBoth, tf.transpose(tf.tensor2d(topLogprobs, [M, k]))])
        : ofBoth;
      const ofValues = tf.tensor1d(values ?? zeros);
      const sum = () => {
        const { distribution, values: computed } = outputs();
        return tf.add(tf.sum(tf.mul(distribution, ofDistribution)), tf.sum(tf.mul(computed, ofValues)));
      };
      const { grads } = tf.valueAndGrads(sum)(keys.map((key) => this.model.parameters.get(key)));
      keys.forEach((key, i) => {
        const before = this.gradients.get(key);
        const gradient = grads[i].dataSync() as Float32Array;
        this.gradients.set(
          key,
          gradient.map((value, j) => value + (before?.[j] ?? 0)),
        );
      });
    });
    return Promise.resolve();
  }

  /** The sequences of a micro-batch are in the order in which a pack takes them, and so are the wanted tokens. */
  private prepare(microBatch: MicroBatch, { temperature, chosen }: PassOptions) {
    const { mask, tokenIds } = microBatch;
    const readMask = predictingPositions(microBatch, (n) => mask[n] !== 0);
    const [pack] = packSequences(microBatch, { readMask, maxTokens: 10_000 });
    const targets = pack.readPositions.map((position) => tokenIds[position + 1]);
    const devicePack = toDevice(this.model, pack);
    return () => {
      const hidden = hiddenAtReads(this.model, devicePack, EVERY_TERM);
      const distribution = tokenDistribution(hidden, this.model.lmHead, targets, { temperature, chosen });
      return { distribution, values: computeValues(this.model, devicePack, hidden, EVERY_TERM) };
    };
  }
}

const optionsFor = (policyLoss: string): LossOptions => ({
  ...EVERY_TERM,
  policyLoss,
  policyLossOptions: PICKING[policyLoss] ?? {},
  recordsTokens: true,
});

/** Rules that pick tokens must pick some of so few: shares and thresholds far from the published ones. */
const PICKING: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  clipCov: { fraction: 0.2, lowest: -10, highest: 10, seed: 3 },
  klCov: { fraction: 0.2 },
  m2po: { threshold: 0.01 },
  opsm: { delta: 0 },
};

const DISTILLATION = { objective: 'forwardKl', coefficient: 0.5 } as const;
/** Of 5 ids at all tokens but each third. */
const teacherTop = {
  topK: 5,
  rows: batch.tokenIds.map((_, n) => (n % 3 === 0 ? -1 : n)),
  ids: Int32Array.from({ length: 5 * batch.tokenIds.length }, (_, i) => (i * 7) % TINY_CONFIG.vocabSize),
  logprobs: Float32Array.from({ length: 5 * batch.tokenIds.length }, () => -2 - random()),
};

await onEachBackend('accumulateLoss', () => {
  it.each([
    ...listPolicyLosses().map((name) => [name, {}] as const),
    // A loss of single tokens, and one that joins those of a sequence.
    ['ppo', { distillation: DISTILLATION }] as const,
    ['gspo', { distillation: DISTILLATION }] as const,
  ])(
    '%s %j: gives the terms and gradients of the optimizer that has the model here, in one pass or in several',
    async (name, change) => {
      const model = Transformer.initialize(TINY_CONFIG, 1);
      const optimizer = new PolicyOptimizer(model, ADAMW);
      const options = { ...optionsFor(name), ...change };
      const expectedTerms = await optimizer.accumulate({ ...batch, teacherTop }, options);
      const expected = await optimizer.takeNamedGradients();
      for (const maxTokensPerMicroBatch of [10, 10_000]) {
        const passes = new PlainPasses(model);
        const terms = await accumulateLoss(
          passes,
          { ...batch, teacherTop },
          { ...options, maxTokensPerMicroBatch },
        );
        expect(terms.loss).toBeCloseTo(expectedTerms.loss, 5);
        expect(terms.distillationLoss).toBeCloseTo(expectedTerms.distillationLoss, 5);
        expect(terms.clipFraction).toBeCloseTo(expectedTerms.clipFraction, 6);
        expect(terms.numTokens).toBe(expectedTerms.numTokens);
        expect([...(terms.figures?.clipped ?? [])]).toEqual([...(expectedTerms.figures?.clipped ?? [])]);
        expect([...passes.gradients.keys()].sort()).toEqual([...expected.keys()].sort());
        for (const [key, gradient] of expected) {
          const largest = Math.max(1e-3, ...gradient.map(Math.abs));
          const found = passes.gradients.get(key);
          const differences = gradient.map(
            (value, i) => Math.abs(value - (found?.[i] ?? Number.NaN)) / largest,
          );
          expect(Math.max(...differences), key).toBeLessThan(2e-4);
        }
      }
      optimizer.dispose();
      model.dispose();
    },
  );
});

it('cutMicroBatches: holds each wanted token once, with all tokens before it and none after the last', () => {
  const wanted = batch.lossWeights;
  const microBatches = cutMicroBatches(batch, wanted, 12);
  expect(microBatches.length).toBeGreaterThan(2);
  const positions = microBatches.flatMap((microBatch) => [...microBatch.positions]).sort((a, b) => a - b);
  expect(positions).toEqual([...wanted.keys()].filter((n) => wanted[n] !== 0));
  for (const { tokenIds, sequenceOffsets, mask, positions: at, wantedOffsets } of microBatches) {
    expect(mask.length).toBe(tokenIds.length);
    const marked = [...mask.keys()].filter((n) => mask[n] === 1);
    expect(marked.map((n) => tokenIds[n])).toEqual([...at].map((n) => batch.tokenIds[n]));
    for (let s = 0; s + 1 < sequenceOffsets.length; s++) {
      expect(mask[sequenceOffsets[s]]).toBe(0);
      expect(mask[sequenceOffsets[s + 1] - 1]).toBe(1);
      const ofSequence = marked.filter((n) => n >= sequenceOffsets[s] && n < sequenceOffsets[s + 1]);
      expect(ofSequence.length).toBe(wantedOffsets[s + 1] - wantedOffsets[s]);
    }
  }
});

it('cutMicroBatches: never wants the first token of a sequence', () => {
  const sequences = { tokenIds: Int32Array.of(4, 5, 6), sequenceOffsets: Int32Array.of(0, 1, 1, 3) };
  const [only, ...others] = cutMicroBatches(sequences, Uint8Array.of(1, 1, 1), 100);
  expect(others).toEqual([]);
  expect([...only.positions]).toEqual([2]);
  expect([...only.tokenIds]).toEqual([5, 6]);
});
