import { resolveRecipe } from '@retrace/config';
import { describe, expect, it } from 'vitest';
import { checkRecipeDisk, estimateRecipeDisk } from './recipe-disk.js';

describe('the disk that checkpoints of a recipe take', () => {
  it('counts the versions and the optimizer states that are kept at the end of the run', async () => {
    const recipe = resolveRecipe('frozen-lake-ppo', { numUpdates: 60 });
    const estimate = await estimateRecipeDisk(recipe);
    // Optimizer states: 25, 50 and the newest three, 58 … 60. Versions: 0, 10 … 60, of the newest five 56 … 59, also 25, and
    // three that may be the best, one that may be a reference.
    expect(estimate).toMatchObject({ numOptimizers: 5, numWeights: 7 + 4 + 1 + 3 + 1 });
    expect(estimate.optimizerBytes).toBe(2 * estimate.weightsBytes);
    expect(estimate.totalBytes).toBe(16 * estimate.weightsBytes + 5 * estimate.optimizerBytes);
  });

  it('are those of every version where the recipe limits no weights, of the first and of each update', async () => {
    const recipe = resolveRecipe('frozen-lake-ppo', {
      numUpdates: 60,
      assignments: ['checkpoint.weights=null'],
    });
    expect(await estimateRecipeDisk(recipe)).toMatchObject({ numWeights: 61, numOptimizers: 5 });
  });

  it('is warned of where it is more than what is free', async () => {
    const fits = resolveRecipe('frozen-lake-ppo');
    expect((await checkRecipeDisk(fits, '.')).verdict).toBe('ok');
    const large = resolveRecipe('frozen-lake-ppo', {
      assignments: ['model.hiddenSize=16384', 'model.intermediateSize=65536', 'model.numLayers=128'],
    });
    expect(await checkRecipeDisk(large, '.')).toMatchObject({
      verdict: 'warn',
      detail: expect.stringContaining('keep fewer with checkpoint.weights') as string,
    });
  });
});
