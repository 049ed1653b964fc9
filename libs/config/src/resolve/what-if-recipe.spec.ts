import { describe, expect, it } from 'vitest';
import { resolveRecipe } from './resolve-recipe.js';
import { whatIfRecipe } from './what-if-recipe.js';

const taught = resolveRecipe('distillation', {});
const untaught = resolveRecipe('frozen-lake-grpo', {});
const TEACHER = 'distillation={"teacher":{"policy":{"run":"other"}}}';

describe('whatIfRecipe', () => {
  it('changes the loss, the steps, and how much a teacher counts', () => {
    const set = ['distillation.coefficient=2', 'loss.clipHigh=0.3', 'optimizer.learningRate=0.01'];
    expect(whatIfRecipe(taught, set)).toMatchObject({
      distillation: { teacher: { policy: { run: 'frozen-lake-ppo' } }, coefficient: 2 },
      loss: { clipHigh: 0.3 },
      optimizer: { learningRate: 0.01 },
    });
  });

  it.each([
    ['another teacher', taught, 'distillation.teacher={"policy":{"run":"other"}}'],
    [
      'a teacher where there was none',
      { ...untaught, loss: { ...untaught.loss, valueCoefficient: 0 } },
      TEACHER,
    ],
    ['no teacher where there was one', taught, 'distillation=null'],
  ])('refuses %s', (_, recorded, assignment) => {
    expect(() => whatIfRecipe(recorded, [assignment])).toThrow(
      "distillation can't be changed for updates that were made already; these can: reward, advantage, loss, preference, optimizer.learningRate",
    );
  });
});
