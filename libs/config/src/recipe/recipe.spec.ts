import { describe, expect, it } from 'vitest';
import { listRecipes, parseRecipe, resolveRecipe } from '../resolve/resolve-recipe.js';
import { policyLossOptions } from './algorithm-problems.js';
import { withoutExpertDefaults } from './expert-fields.js';
import { recipeDifferences } from './recipe-differences.js';

/** All that has no sensible default, of a recipe that makes its model. */
const SHORTEST = {
  name: 'short',
  environment: 'bandit',
  numUpdates: 1,
  model: {
    ...{ numLayers: 1, hiddenSize: 8, numHeads: 1, numKeyValueHeads: 1, headDim: 8 },
    ...{ intermediateSize: 8, maxPositions: 64 },
  },
  context: { window: 'observation', tokenizer: 'word', maxNewTokens: 1 },
  collection: { groupsPerRound: 4, groupSize: 4 },
  advantage: { estimator: 'grpo' },
  optimizer: { learningRate: 0.001 },
};

describe('a recipe', () => {
  it('needs only what has no sensible default; the rest is as the reference says', () => {
    expect(parseRecipe(SHORTEST)).toMatchObject({
      ...SHORTEST,
      ...{
        description: '',
        seed: 1,
        reward: { components: [{ reward: 'environment' }], allocation: 'perStep' },
      },
      advantage: { estimator: 'grpo', options: {} },
      loss: {
        ...{ policyLoss: 'ppo', clipLow: 0.2, clipHigh: 0.2, aggregation: 'tokenMean' },
        ...{ entropyCoefficient: 0, valueCoefficient: 0 },
      },
      optimizer: {
        ...{ beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, maxGradientNorm: 1, epochs: 1 },
        ...{ warmupFraction: 0, decayStartFraction: 1, finalFraction: 1, maxTokensPerMicroBatch: 16_384 },
      },
      evaluation: { everyUpdates: 10, numValidationEpisodes: 200, numTestEpisodes: 1000 },
      checkpoint: { keepLast: 3, keepEvery: 25 },
    });
    expect(parseRecipe(SHORTEST).loss.kl).toBeUndefined();
    expect(policyLossOptions(parseRecipe(SHORTEST).loss)).toEqual({
      clipLow: 0.2,
      clipHigh: 0.2,
      dualClip: null,
    });
  });

  it.each(['name', 'environment', 'context', 'collection', 'advantage', 'optimizer'])('needs %s', (name) => {
    const others = Object.fromEntries(Object.entries(SHORTEST).filter(([other]) => other !== name));
    expect(() => parseRecipe(others)).toThrow(`"${name}" is required`);
  });

  it('takes null as absent where null turns nothing off, and refuses it where a field can not be absent', () => {
    const agent = { format: null, strict: null, invalidAction: { tell: null, endAfter: null } };
    const context = { ...SHORTEST.context, tokenizer: 'byte' };
    const read = parseRecipe({ ...SHORTEST, context, agent, monitors: { lengthFactor: null } });
    expect(Object.hasOwn(read.agent ?? {}, 'format')).toBe(false);
    expect(read.agent?.invalidAction).toMatchObject({ endAfter: null });
    expect(Object.hasOwn(read.agent?.invalidAction ?? {}, 'tell')).toBe(false);
    expect(read.monitors).toMatchObject({ lengthFactor: null });
    expect(() => parseRecipe({ ...SHORTEST, loss: { clipLow: null } })).toThrow('loss.clipLow: got null');
    expect(() => parseRecipe({ ...SHORTEST, loss: null })).toThrow('loss: got null');
  });
});

describe('a recipe without the fields for experts that have their default', () => {
  const plain = (name: string) => JSON.parse(JSON.stringify(resolveRecipe(name))) as object;

  it.each(listRecipes().map(({ name }) => name))('of %s differs only by what it leaves out', async (name) => {
    const short = parseRecipe(await withoutExpertDefaults(plain(name)));
    const differences = recipeDifferences(plain(name) as Record<string, unknown>, short);
    expect(differences.filter(({ second }) => second !== undefined)).toEqual([]);
    const leftOut = differences.map(({ field }) => field);
    expect(['compute', 'loss.kl.straightThrough']).toEqual(expect.arrayContaining(leftOut));
  });

  it('keeps one that has another value, and objects of which a field is left', async () => {
    const recipe = {
      optimizer: { learningRate: 0.1, epsilon: 1e-8, guard: { skipNonFinite: true, maxSkippedInARow: 10 } },
      ...{ compute: { matMulPrecision: 'float32' }, checkpoint: { keepLast: 2, keepEvery: 25 } },
      reward: { components: [{ reward: 'environment', isUntilFilledIn: false }] },
      agent: { invalidAction: { endAfter: null } },
    };
    expect(await withoutExpertDefaults(recipe)).toEqual({
      optimizer: { learningRate: 0.1, guard: { skipNonFinite: true } },
      ...{ checkpoint: { keepLast: 2 }, reward: { components: [{ reward: 'environment' }] } },
      agent: { invalidAction: {} },
    });
  });

  it('keeps an empty object where null, its default, turns off what it turns on', async () => {
    const optimizer = { critic: {}, guard: { maxSkippedInARow: 10 } };
    expect(await withoutExpertDefaults({ optimizer, sampler: { limiter: null } })).toEqual({
      ...{ optimizer: { critic: {}, guard: {} }, sampler: {} },
    });
  });
});

it('an unknown field is answered with the names that most readers need first', () => {
  expect(() => resolveRecipe('bandit-ppo', { assignments: ['collection.size=1'] })).toThrow(
    /the fields here are groupsPerRound, groupSize, .*; those for experts concurrentEpisodes, /,
  );
});
