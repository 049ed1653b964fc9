import { describe, expect, it } from 'vitest';
import { resolveRecipe } from './resolve-recipe.js';

const refusal =
  (...assignments: string[]) =>
  () =>
    resolveRecipe('distillation', { assignments });

describe('a recipe with a teacher', () => {
  it.each([
    [
      ['distillation.teacher={}'],
      'distillation.teacher: got neither policy nor model, must have one of them',
    ],
    [['distillation.teacher.model=./m'], 'distillation.teacher: got both policy and model'],
    [['distillation.coefficient=0'], 'distillation.coefficient: got 0, must be a number from 0.0001 to 100'],
    [
      ['loss.valueCoefficient=0.5'],
      'loss.valueCoefficient: got 0.5, must be 0 without distillation.withReward',
    ],
    [['advantage.shuffle=true'], 'advantage.shuffle: got true, must be false with distillation'],
    [
      ['distillation.teacher={"model": "./m"}', 'engine={"kind": "torch"}'],
      /distillation\.teacher\.model: got ".*\/m", must be absent with engine "torch"/,
    ],
    [
      [`distillation.teacher.fingerprint=${'0'.repeat(64)}`],
      'distillation.teacher.fingerprint: must be absent without distillation.teacher.model',
    ],
  ])('is refused with %j', (assignments, message) => {
    expect(refusal(...assignments)).toThrow(message);
  });

  it('has the path of a model directory made absolute', () => {
    const recipe = resolveRecipe('distillation', { assignments: ['distillation.teacher={"model": "./m"}'] });
    expect(recipe.distillation?.teacher.model).toMatch(/^\/.*\/m$/);
  });
});
