import { resolveRecipe } from '@retrace/config';
import { expect, it } from 'vitest';
import { requireEngine } from './require-engine.js';

it('requireEngine: refuses a recipe whose engine has no Python, and takes one that trains in this process', async () => {
  const assignments = ['engine.kind=torch', 'engine.python=no-such-python'];
  await expect(requireEngine(resolveRecipe('bandit-ppo', { assignments }))).rejects.toMatchObject({
    code: 'ENGINE_UNAVAILABLE',
    message: 'engine.python is no-such-python, which is no program; see "retrace doctor --engine torch"',
  });
  await expect(requireEngine(resolveRecipe('bandit-ppo'))).resolves.toBeUndefined();
});
