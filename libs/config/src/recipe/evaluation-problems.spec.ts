import { describe, expect, it } from 'vitest';
import { resolveRecipe } from '../resolve/resolve-recipe.js';

const recipe = (...assignments: readonly string[]) => resolveRecipe('bandit-ppo', { assignments });
const EARLY_STOP = 'evaluation.earlyStop={"patience":3,"minGain":0.01}';

describe('the evaluation of a recipe', () => {
  it('may be greedy, sampled, or both, and may end training early', () => {
    const { evaluation } = recipe('evaluation.samplesPerTask=4', 'evaluation.greedy=false', EARLY_STOP);
    expect(evaluation).toMatchObject({ greedy: false, samplesPerTask: 4, earlyStop: { patience: 3 } });
    expect(recipe('evaluation.targets=[0.5,1]').evaluation.targets).toEqual([0.5, 1]);
  });

  it.each([
    [['evaluation.numValidationEpisodes=0'], 'evaluation.numValidationEpisodes: got 0'],
    [['evaluation.greedy=false'], 'evaluation.samplesPerTask: got 0, must be positive'],
    [['evaluation.everyUpdates=0', EARLY_STOP], 'evaluation.everyUpdates: got 0, must be positive'],
    [['checkpoint.weights.keepBest=0', EARLY_STOP], 'checkpoint.weights.keepBest: got 0, must be positive'],
    [['evaluation.targets=[0.5,1.5]'], 'evaluation.targets: got [0.5,1.5], must be a number from 0 to 1'],
    [['evaluation.earlyStop={"patience":0}'], 'evaluation.earlyStop.patience: got 0, must be a whole number'],
  ])('refuses %s', (assignments, message) => {
    expect(() => recipe(...assignments)).toThrow(message);
  });
});
