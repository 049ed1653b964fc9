import { describe, expect, it } from 'vitest';
import { resolveRecipe } from '../resolve/resolve-recipe.js';
import { bestVersions, validationPlateau } from './validated-versions.js';

const withStop = (earlyStop: object | null) =>
  resolveRecipe('bandit-ppo', { assignments: [`evaluation.earlyStop=${JSON.stringify(earlyStop)}`] });

describe('bestVersions', () => {
  it('are those with the highest success, of equal ones the newer; an unknown success is never among them', () => {
    const success = new Map([
      [0, 0.5],
      [10, 0.9],
      [20, NaN],
      [30, 0.9],
    ]);
    expect(bestVersions(success, 2)).toEqual([30, 10]);
    expect(bestVersions(success, 9)).toEqual([30, 10, 0]);
    expect(bestVersions(new Map(), 1)).toEqual([]);
  });
});

describe('validationPlateau', () => {
  const success = new Map([
    [0, 0.25],
    [10, 0.5],
    [20, 0.505],
    [30, 0.5],
    [40, 0.9],
  ]);

  it('is where so many validations in a row had no gain, and names the best before it', () => {
    expect(validationPlateau(success, withStop({ patience: 2, minGain: 0.01 }))).toEqual({
      policyVersion: 30,
      bestVersion: 20,
      detail:
        'stopped early: the success of validation has not risen by 0.01 in 2 validations, the best is 0.505 of policy 20',
    });
  });

  it('is not there while success rises, or without a rule', () => {
    expect(validationPlateau(success, withStop({ patience: 2 }))).toBeNull();
    expect(validationPlateau(success, withStop({ patience: 3, minGain: 0.01 }))).toBeNull();
    expect(validationPlateau(success, withStop(null))).toBeNull();
  });

  it('does not depend on the order in which the validations came', () => {
    const reversed = new Map([...success].reverse());
    const rule = withStop({ patience: 2, minGain: 0.01 });
    expect(validationPlateau(reversed, rule)).toEqual(validationPlateau(success, rule));
  });
});
