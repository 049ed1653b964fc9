import { openBackend } from '@retrace/compute';
import { beforeAll, describe, expect, it } from 'vitest';
import { ShardedOptimizer } from '../data-parallel/sharded-optimizer.js';
import { evaluateLogprobs } from '../logprobs/evaluate-logprobs.js';
import { Transformer } from '../model/transformer.js';
import { PolicyOptimizer } from '../optimizer/policy-optimizer.js';
import { EVERY_TERM, imitation } from '../testing/loss-options.js';
import { randomBatch } from '../testing/random-batch.js';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import type { LossOptions } from './loss-options.js';
import type { TokenFigures } from './token-figures.js';

const batch = randomBatch([7, 12, 1, 12, 3, 25, 0, 9], {
  vocabSize: TINY_CONFIG.vocabSize,
  actionShare: 0.4,
  seed: 4,
});
const isTrained = Uint8Array.from(batch.lossWeights, (weight) => Number(weight !== 0));
const adam = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 };
const COLUMNS = ['ratios', 'values', 'kls', 'entropies'] as const;

describe('the figures of the tokens of a loss', () => {
  let model: Transformer;
  beforeAll(async () => {
    await openBackend();
    model = Transformer.initialize(TINY_CONFIG, 1);
  });

  async function termsOf(options: Partial<LossOptions>, numShards = 1) {
    const optimizer = new PolicyOptimizer(model, adam);
    const steps = new ShardedOptimizer(model, optimizer, { numShards, workers: null });
    const terms = await steps.accumulate(batch, { ...EVERY_TERM, recordsTokens: true, ...options });
    optimizer.dispose();
    return terms;
  }

  async function figuresOf(options: Partial<LossOptions>, numShards?: number): Promise<TokenFigures> {
    const { figures } = await termsOf(options, numShards);
    if (!figures) throw new TypeError('no figures');
    return figures;
  }

  it('are what the model and the columns give at each trained token, and nothing elsewhere', async () => {
    const figures = await figuresOf({});
    const { logprobs, entropies, values } = await evaluateLogprobs(model, batch, {
      ...{ temperature: EVERY_TERM.temperature, maxTokensPerMicroBatch: 4096, actionMask: isTrained },
    });
    const clip = { low: 0.8, high: 1.28, dual: 3 };
    isTrained.forEach((trained, n) => {
      if (trained === 0) {
        for (const name of COLUMNS) expect(figures[name][n]).toBeNaN();
        expect(figures.clipped[n]).toBe(0);
        return;
      }
      const ratio = Math.exp(logprobs[n] - (batch.proximalLogprobs?.[n] ?? NaN));
      const difference = (batch.referenceLogprobs?.[n] ?? NaN) - logprobs[n];
      const advantage = batch.advantages?.[n] ?? NaN;
      expect(figures.ratios[n]).toBeCloseTo(ratio, 5);
      expect(figures.kls[n]).toBeCloseTo(Math.exp(difference) - difference - 1, 5);
      expect(figures.entropies[n]).toBeCloseTo(entropies[n], 5);
      expect(figures.values[n]).toBeCloseTo(values?.[n] ?? NaN, 5);
      const isClipped = advantage > 0 ? ratio > clip.high : ratio < clip.low || ratio > clip.dual;
      expect(figures.clipped[n]).toBe(Number(isClipped));
    });
  });

  it.each([
    ['in small micro-batches', { maxTokensPerMicroBatch: 25 }, 1],
    ['in three shards', {}, 3],
  ])('are the same %s', async (_, options, numShards) => {
    const whole = await figuresOf({});
    const cut = await figuresOf(options, numShards);
    for (const name of COLUMNS)
      cut[name].forEach((value, n) => {
        if (isTrained[n] === 1) expect(value).toBeCloseTo(whole[name][n], 5);
        else expect(value).toBeNaN();
      });
    expect(cut.clipped).toEqual(whole.clipped);
  });

  it('lack what the loss has not: a ratio, a KL and a value in imitation', async () => {
    const optimizer = new PolicyOptimizer(model, adam);
    const { tokenIds, sequenceOffsets, lossWeights } = batch;
    const plain = { tokenIds, sequenceOffsets, lossWeights };
    const { figures } = await optimizer.accumulate(plain, { ...imitation, recordsTokens: true });
    for (const name of ['ratios', 'kls', 'values'] as const)
      expect(figures?.[name].every(Number.isNaN)).toBe(true);
    expect(figures?.entropies.filter((entropy) => !Number.isNaN(entropy))).toHaveLength(
      isTrained.reduce((sum, bit) => sum + bit, 0),
    );
    optimizer.dispose();
  });

  it('are not told unless they are asked for, and change no term', async () => {
    const { figures, ...terms } = await termsOf({});
    expect(figures).toBeDefined();
    expect(await termsOf({ recordsTokens: false })).toEqual(terms);
  });
});
