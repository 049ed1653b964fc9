import { listRecipes, resolveRecipe, whatIfRecipe, type Recipe } from '@retrace/config';
import { describe, expect, it } from 'vitest';
import { presetsFor } from '../apps/dashboard/src/what-if/presets.js';

const recipes = listRecipes().map(({ name }) => ({ name, recipe: resolveRecipe(name) }));
const labelsFor = (recipe: Recipe) => presetsFor(recipe).map(({ label }) => label);

describe('presets of the page that asks what an update would have been', () => {
  it.each(recipes)('each that is offered for $name is accepted, and changes it', ({ recipe }) => {
    const offered = presetsFor(recipe);
    expect(offered.length).toBeGreaterThan(0);
    for (const { set } of offered) expect(whatIfRecipe(recipe, set.split('\n'))).not.toEqual(recipe);
  });

  it('a run with a critic in groups is asked for GRPO without the critic; one whose groups have one episode is not', () => {
    const single = resolveRecipe('frozen-lake-ppo');
    expect(labelsFor(single)).not.toContain('GRPO');
    const inGroups = resolveRecipe('frozen-lake-ppo', { assignments: ['collection.groupSize=4'] });
    const [grpo] = presetsFor(inGroups);
    expect(grpo.label).toBe('GRPO');
    expect(whatIfRecipe(inGroups, grpo.set.split('\n'))).toMatchObject({
      advantage: { estimator: 'grpo' },
      loss: { valueCoefficient: 0 },
    });
    const assignments = ['collection.groupSize=4', 'model.valueTrunk=shared'];
    expect(labelsFor(resolveRecipe('frozen-lake-ppo', { assignments }))).toContain('GRPO');
    assignments[1] = 'model.valueTrunk=own';
    expect(labelsFor(resolveRecipe('frozen-lake-ppo', { assignments }))).not.toContain('GRPO');
  });

  it('a run that compares pairs is asked nothing about advantages', () => {
    expect(labelsFor(resolveRecipe('frozen-lake-dpo'))).toEqual(['No entropy bonus', 'One epoch']);
  });
});
