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
    expect(shared.totalBytes - alone.totalBytes).toBeCloseTo(2 * alone.roles[0].bytes, 0);
  });

  it('counts what every process has beside its computing once for roles that share one', async () => {
    const totalOf = async (...assignments: string[]) =>
      (await estimateRecipeMemory(resolveRecipe('frozen-lake-ppo', { assignments }))).totalBytes;
    const apart = await totalOf('process.colocate=false');
    const shared = await totalOf('process.colocate=true', 'process.colocateValidator=true');
    expect((apart - shared) / 2 ** 20).toBe(2 * (300 + 380));
  });

  it('counts recomputed layers and the reference policy of a KL term or of preferences, of which workers keep no copy', async () => {
    const bytesOf = async (name: string, ...assignments: string[]) => {
      const recipe = resolveRecipe(name, { assignments: [...HUGE, ...assignments] });
      const { roles } = await estimateRecipeMemory(recipe);
      return roles.map(({ bytes }) => bytes);
    };
    const trainerBytes = (...assignments: string[]) => bytesOf('frozen-lake-ppo', ...assignments);
    const [plain] = await trainerBytes();
    const [recomputed] = await trainerBytes('optimizer.recomputeLayers=true');
    expect(recomputed).toBeLessThan(plain);
    const [withReference, worker] = await trainerBytes('loss.kl.coefficient=0.1', 'optimizer.dataParallel=2');
    // Nearly all weights are in 64 layers: attention with 4 heads of queries, 2 of keys and 2 of values, each 16 wide, and the output of
    // the 4; three matrices of the feed-forward layers. 4 bytes each.
    const weights = 4 * 64 * (12 * 16 * 8192 + 3 * 8192 * 32_768);
    expect((withReference - plain) / weights).toBeCloseTo(1, 2);
    expect(worker).toBe(plain);
    const [withPairs] = await bytesOf('frozen-lake-dpo');
    const [withAdvantages] = await bytesOf('frozen-lake-dpo', 'preference=null');
    expect((withPairs - withAdvantages) / weights).toBeCloseTo(1, 2);
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
