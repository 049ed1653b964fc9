import { resolveRecipe } from '@retrace/config';
import { expect, it } from 'vitest';
import { openRun } from './open-run.js';

it('a run that collects what it trains on is refused rewards that nobody can have given yet', async () => {
  const assignments = ['reward.components=[{"reward":"assigned","options":{"name":"liked"}}]'];
  const recipe = resolveRecipe('bandit-ppo', { assignments });
  await expect(openRun({} as never, recipe, () => undefined)).rejects.toMatchObject({
    code: 'RECIPE_INVALID',
    message: expect.stringContaining('train with --from-run') as string,
  });
});
