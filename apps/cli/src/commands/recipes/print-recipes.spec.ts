import { expect, it } from 'vitest';
import { printRecipes } from './print-recipes.js';

it('printRecipes: refuses comments on no recipe, and in JSON', async () => {
  const asked = { dataDir: '', explain: true } as const;
  await expect(printRecipes(undefined, asked)).rejects.toMatchObject({
    code: 'OPTION_INVALID',
    message: expect.stringContaining('give its name') as string,
  });
  await expect(printRecipes('bandit-ppo', { ...asked, json: true })).rejects.toMatchObject({
    code: 'OPTION_INVALID',
    message: expect.stringContaining('leave out --json') as string,
  });
});
