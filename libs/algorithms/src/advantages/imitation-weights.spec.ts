import { describe, expect, it } from 'vitest';
import {
  advantageWeights,
  bestOfN,
  combinationFaults,
  computeAdvantages,
  tdLambdaReturns,
  topReturns,
  type Combination,
} from '../index.js';
import { expectClose } from '../testing/expect-close.js';

describe('weights of imitation', () => {
  it('bestOfN: 1 for all best members of a group; a group without a worse member counts as a whole', () => {
    const groupIds = Int32Array.of(0, 0, 0, 1, 1, 2, 3, 3, 3);
    const returns = Float32Array.of(1, 3, 3, 0, 0, 9, -5, -1, -2);
    const { advantages, numEqualGroups, numSingletonGroups } = bestOfN({ returns, groupIds });
    expect([...advantages]).toEqual([0, 1, 1, 1, 1, 1, 0, 1, 0]);
    expect({ numEqualGroups, numSingletonGroups }).toEqual({ numEqualGroups: 1, numSingletonGroups: 1 });
  });

  it.each([
    ['demonstrations that all succeed', [1, 1, 1, 1], [1, 1, 1, 1]],
    ['demonstrations without any reward', [0, 0, 0, 0], [1, 1, 1, 1]],
    ['penalties that are all alike', [-0.1, -0.1, -0.1, -0.1], [1, 1, 1, 1]],
    ['sums that differ by rounding', [0.3, Math.fround(0.3) + 2 ** -25, 0.3, 0.3], [1, 1, 1, 1]],
    ['two mixed groups', [0, 1, 1, 0], [0, 1, 1, 0]],
  ])('bestOfN and topReturns: %s', (_, values, weights) => {
    const returns = Float32Array.from(values);
    const groups = bestOfN({ returns, groupIds: Int32Array.of(0, 0, 1, 1) });
    expect([...groups.advantages]).toEqual(weights);
    expect([...topReturns({ returns }, { topFraction: 0.5 })]).toEqual(weights);
  });

  it('topReturns: keeps the best quarter, ties with the last of them included, and not the smallest return where there are larger ones', () => {
    const quarter = { topFraction: 0.25 };
    expect([...topReturns({ returns: Float32Array.of(4, 1, 3, 2, 0, 0, 0, 0) }, quarter)]).toEqual([
      1, 0, 1, 0, 0, 0, 0, 0,
    ]);
    expect([...topReturns({ returns: Float32Array.of(1, 1, 1, 0) }, quarter)]).toEqual([1, 1, 1, 0]);
    expect([...topReturns({ returns: Float32Array.of(0, 0, 0, 0) }, quarter)]).toEqual([1, 1, 1, 1]);
    expect([...topReturns({ returns: Float32Array.of(7) }, quarter)]).toEqual([1]);
    expect([...topReturns({ returns: new Float32Array(0) }, quarter)]).toEqual([]);
    expect([...topReturns({ returns: Float32Array.of(0, 0, 1) }, { topFraction: 1 })]).toEqual([1, 1, 1]);
  });

  it('advantageWeights: exp(A/β), at most maxWeight', () => {
    const weights = advantageWeights(Float32Array.of(-1, 0, 0.5, 1, 100), { temperature: 0.5, maxWeight: 6 });
    // e^−2, e^0, e^1, and e^2 = 7.389 and e^200, which are capped.
    expectClose(weights, [0.135335283, 1, 2.718281828, 6, 6], 1e-6);
  });

  it('awr: weighs by the λ-returns less the values, and reports the share of capped weights', () => {
    const batch = {
      offsets: Int32Array.of(0, 3),
      groupIds: Int32Array.of(0),
      rewards: Float32Array.of(0, 0, 1),
      values: Float32Array.of(0.2, 0.4, 0.6),
      truncated: null,
      finalValues: null,
    };
    const options = { gamma: 1, lambda: 1, temperature: 0.2, maxWeight: 20 };
    const { advantages, returns, statistics } = computeAdvantages('awr', batch, options);
    expect([...(returns ?? [])]).toEqual([...tdLambdaReturns({ ...batch, gamma: 1, lambda: 1 })]);
    // G = 1 everywhere: e^4 = 54.6 is capped at 20, then e^3 = 20.09 too, and e^2 = 7.389.
    expectClose(advantages, [20, 20, 7.389056], 1e-4);
    expect(statistics.cappedFraction).toBeCloseTo(2 / 3, 12);
  });

  it('are refused with another loss than gpg, and with importance weights', () => {
    const combination: Combination = {
      ...{ advantage: 'bestOfN', policyLoss: 'gpg', importanceWeights: false },
      ...{ proximal: 'behavior', valueCoefficient: 0, groupSize: 4 },
    };
    expect(combinationFaults(combination)).toEqual([]);
    expect(combinationFaults({ ...combination, policyLoss: 'ppo' })).toHaveLength(1);
    expect(
      combinationFaults({ ...combination, importanceWeights: true, proximal: 'recomputed' }),
    ).toHaveLength(1);
  });
});
