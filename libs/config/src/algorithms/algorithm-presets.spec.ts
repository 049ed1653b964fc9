import { describe, expect, it } from 'vitest';
import { ConfigError } from '../config-error.js';
import { recipeDifferences } from '../recipe/recipe-differences.js';
import { listRecipes, resolvePlainRecipe, resolveRecipe } from '../resolve/resolve-recipe.js';
import { listAlgorithms } from './algorithm-presets.js';

const bases = ['frozen-lake-ppo', 'frozen-lake-grpo', 'frozen-lake-dpo', 'sokoban-imitation'];
/** Fields that an algorithm decides; all others are the recipe's. */
const DECIDED = /^(advantage|loss|preference|sampler|collection\.(groupSize|groupsPerRound|maxStaleness))/;

describe.each(listAlgorithms().map(({ name }) => name))('the algorithm %s', (algorithm) => {
  it.each(bases)('makes a recipe of %s that is accepted, and leaves the task as it is', (name) => {
    const recipe = resolveRecipe(name, { algorithm });
    for (const { field } of recipeDifferences(resolveRecipe(name), recipe)) expect(field).toMatch(DECIDED);
  });

  it('does not depend on the algorithm that the recipe had before', () => {
    const [fromPpo, fromDpo] = ['frozen-lake-ppo', 'frozen-lake-dpo'].map((name) =>
      resolveRecipe(name, { algorithm }),
    );
    for (const part of ['advantage', 'loss', 'preference'] as const) {
      expect(recipeDifferences({ part: fromPpo[part] }, { part: fromDpo[part] })).toEqual([]);
    }
  });
});

describe('withAlgorithm', () => {
  it('keeps the number of episodes of a round where it makes groups', () => {
    const { collection } = resolveRecipe('frozen-lake-ppo', { algorithm: 'grpo' });
    expect(collection).toMatchObject({ groupSize: 8, groupsPerRound: 64 });
    const pairs = resolveRecipe('frozen-lake-ppo', { algorithm: 'dpo' });
    expect(pairs.collection).toMatchObject({ groupSize: 4, groupsPerRound: 128 });
    const ofRecipe = resolveRecipe('frozen-lake-grpo', { algorithm: 'dpo' });
    expect(ofRecipe.collection.groupSize).toBe(resolveRecipe('frozen-lake-grpo').collection.groupSize);
  });

  it('replaces groups of equal rewards with dapo, and leaves the rest of the sampler to the recipe', () => {
    expect(resolveRecipe('frozen-lake-grpo', { algorithm: 'dapo' }).sampler).toEqual({
      rule: 'fifo',
      zeroVariance: 'resample',
    });
    const newest = { ...resolveRecipe('frozen-lake-grpo'), sampler: { rule: 'newest', maxTimesSampled: 1 } };
    expect(resolvePlainRecipe(newest, { algorithm: 'dapo' }).sampler).toEqual({
      rule: 'newest',
      maxTimesSampled: 1,
      zeroVariance: 'resample',
    });
  });

  it('gives gspo the bounds of its paper for long answers, and those of a token for short ones', () => {
    const options = (maxNewTokens: number) => {
      const base = resolveRecipe('frozen-lake-ppo');
      const model = { ...base.model, maxPositions: 256 };
      const recipe = { ...base, model, context: { ...base.context, maxNewTokens } };
      return resolvePlainRecipe(recipe, { algorithm: 'gspo' }).loss.policyLossOptions;
    };
    expect(options(1)).toEqual({ clipLow: 0.2, clipHigh: 0.2 });
    expect(options(64)).toEqual({});
  });

  it('is applied before assignments', () => {
    const overrides = { algorithm: 'dapo', assignments: ['loss.clipHigh=0.3'] };
    expect(resolveRecipe('frozen-lake-grpo', overrides).loss.clipHigh).toBe(0.3);
  });

  it('refuses an unknown algorithm, and names the known ones', () => {
    expect(() => resolveRecipe('frozen-lake-ppo', { algorithm: 'trpo' })).toThrow(ConfigError);
    expect(() => resolveRecipe('frozen-lake-ppo', { algorithm: 'trpo' })).toThrow(/dr-grpo/);
  });

  it('has no name that is a recipe', () => {
    const recipes = new Set(listRecipes().map(({ name }) => name));
    for (const { name } of listAlgorithms()) expect(recipes.has(name)).toBe(false);
  });
});
