import { describe, expect, it } from 'vitest';
import { groupsOfEqualReturns } from './zero-variance.js';

describe('groupsOfEqualReturns', () => {
  it('finds groups whose returns are equal up to rounding, missing, or single', () => {
    const returns = Float64Array.of(0, 1, 1, 1, 0.1 + 0.2, 0.3, NaN, NaN, 5, NaN, -2, -2.001);
    const groups = Int32Array.of(0, 0, 1, 1, 2, 2, 3, 3, 5, 5, 9, 9);
    expect(groupsOfEqualReturns(returns, groups)).toEqual([1, 2, 3, 5]);
  });

  it.each([
    [-1e6, -1e6 + 0.1, [0]],
    [-1e6, -1e6 + 1, []],
    [1e6, 1e6 + 0.1, [0]],
    [1e6, 1e6 + 1, []],
  ])('measures %d and %d by their size, whatever their sign', (one, other, flat) => {
    expect(groupsOfEqualReturns(Float64Array.of(one, other), Int32Array.of(0, 0))).toEqual(flat);
  });

  it('refuses columns of different lengths, and groups that are no numbers of groups', () => {
    expect(() => groupsOfEqualReturns(new Float64Array(1), new Int32Array(2))).toThrow(
      expect.objectContaining({ message: 'returns has 1 entries, must have as many entries as groups, 2' }),
    );
    expect(() => groupsOfEqualReturns(new Float64Array(1), Int32Array.of(-1))).toThrow(
      expect.objectContaining({ message: 'groups[0] is -1, must be a whole number ≥ 0' }),
    );
  });
});
