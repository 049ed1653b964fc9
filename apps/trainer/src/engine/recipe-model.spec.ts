import { countParameters } from '@retrace/policy';
import { resolveRecipe } from '@retrace/config';
import { expect, it } from 'vitest';
import { recipeModelConfig } from './recipe-model.js';

const VOCAB_SIZE = 11;

it('recipe-model: a tied output head is the token embedding, so the model has that many parameters fewer', async () => {
  const recipe = resolveRecipe('bandit-ppo', { assignments: ['model.hiddenSize=16'] });
  const tied = resolveRecipe('bandit-ppo', {
    assignments: ['model.hiddenSize=16', 'model.tieWordEmbeddings=true'],
  });
  const [own, shared] = await Promise.all(
    [recipe, tied].map(async (each) => countParameters(await recipeModelConfig(each, VOCAB_SIZE)).numTrained),
  );
  expect(own - shared).toBe(VOCAB_SIZE * 16);
});
