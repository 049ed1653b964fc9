import { resolveRecipe } from '@retrace/config';
import { describe, expect, it } from 'vitest';
import { adviceFor, checkRecipeMemory, estimateRecipeMemory } from './recipe-memory.js';

const HUGE = ['model.hiddenSize=8192', 'model.intermediateSize=32768', 'model.numLayers=64'];

describe('checkRecipeMemory', () => {
  it('accepts the default recipe, and counts a trainer process for each share of data parallel training', async () => {
    expect(await checkRecipeMemory(resolveRecipe('frozen-lake-ppo'))).toMatchObject({ verdict: 'ok' });
    const [alone, shared] = await Promise.all(
      [1, 3].map((n) =>
        estimateRecipeMemory(
          resolveRecipe('frozen-lake-ppo', { assignments: [`optimizer.dataParallel=${n}`] }),
        ),
      ),
    );
    expect(shared.totalBytes - alone.totalBytes).toBeCloseTo(2 * alone.roles[0].estimate.totalBytes, 0);
  });

  it('refuses a recipe that exceeds any machine, and lists what would help, the largest saving first', async () => {
    const recipe = resolveRecipe('frozen-lake-ppo', { assignments: HUGE });
    const { verdict, detail } = await checkRecipeMemory(recipe);
    expect(verdict).toBe('fail');
    expect(detail).toMatch(
      /needs [\d.]+ GiB at its peak \(trainer .*\); [\d.]+ GiB are available; set optimizer.maxTokensPerMicroBatch below 16384/,
    );
    const small = resolveRecipe('frozen-lake-ppo', {
      assignments: [...HUGE, 'optimizer.maxTokensPerMicroBatch=64'],
    });
    const [first, ...others] = adviceFor(small, await estimateRecipeMemory(small));
    expect(first).toBe('choose a smaller model');
    expect(others[0]).toMatch(/shorten the longest context, 64 tokens \(model.maxPositions\)/);
  });
});
