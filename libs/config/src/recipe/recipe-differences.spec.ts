import { describe, expect, it } from 'vitest';
import { resolveRecipe } from '../resolve/resolve-recipe.js';
import { recipeDifferences } from './recipe-differences.js';

describe('recipeDifferences', () => {
  it('names each field that differs by its path, with both values', () => {
    const first = resolveRecipe('frozen-lake-ppo');
    const second = resolveRecipe('frozen-lake-ppo', {
      seed: 7,
      assignments: ['optimizer.epochs=1', 'context.stopStrings=["x"]', 'loss.kl.adaptive=null'],
    });
    expect(recipeDifferences(first, second)).toEqual([
      { field: 'seed', first: 1, second: 7 },
      { field: 'context.stopStrings', first: undefined, second: ['x'] },
      { field: 'optimizer.epochs', first: 2, second: 1 },
    ]);
    expect(recipeDifferences(first, first)).toEqual([]);
  });

  it('finds none between an old record of a file without a KL and the file as it is read today', () => {
    const { loss, advantage, ...others } = resolveRecipe('bandit-ppo', { assignments: ['loss.kl=null'] });
    const { kl: _, ...plainLoss } = loss;
    const old = {
      ...others,
      advantage: { ...advantage, shuffle: false },
      loss: { ...plainLoss, klCoefficient: 0, klEstimator: 'k3' },
    };
    const today = { ...others, advantage, loss: plainLoss };
    expect(recipeDifferences(old, today)).toEqual([]);
    const weighed = { ...today, loss: { ...plainLoss, kl: { coefficient: 0.1 } } };
    expect(recipeDifferences(old, weighed)).toEqual([
      { field: 'loss.kl.coefficient', first: 0, second: 0.1 },
    ]);
  });

  it('takes a field that is left out for null, and compares lists of objects by their contents', () => {
    const components = [{ reward: 'goal', options: { success: 1 } }];
    expect(recipeDifferences({ a: null, components }, { b: null, components: [...components] })).toEqual([]);
    const others = [{ reward: 'goal', options: { success: 2 } }];
    expect(recipeDifferences({ components }, { components: others })).toEqual([
      { field: 'components', first: components, second: others },
    ]);
  });
});
