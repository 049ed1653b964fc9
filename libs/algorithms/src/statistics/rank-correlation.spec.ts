import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rankCorrelation } from './rank-correlation.js';

/** τ-b and Spearman by their definitions, pair by pair. */
function byDefinition(x: readonly number[], y: readonly number[]): { spearman: number; kendall: number } {
  let [agree, tiedX, tiedY, pairs] = [0, 0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    for (let j = 0; j < i; j++) {
      pairs++;
      agree += Math.sign(x[i] - x[j]) * Math.sign(y[i] - y[j]);
      tiedX += Number(x[i] === x[j]);
      tiedY += Number(y[i] === y[j]);
    }
  }
  const rank = (values: readonly number[]) =>
    values.map((v) => values.filter((w) => w < v).length + (values.filter((w) => w === v).length + 1) / 2);
  const [a, b] = [rank(x), rank(y)];
  const mean = (x.length + 1) / 2;
  const dot = (p: readonly number[], q: readonly number[]) =>
    p.reduce((sum, v, i) => sum + (v - mean) * (q[i] - mean), 0);
  return {
    spearman: dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)),
    kendall: agree / Math.sqrt((pairs - tiedX) * (pairs - tiedY)),
  };
}

describe('rankCorrelation', () => {
  it('agrees with the definitions, ties included', () => {
    const values = fc.integer({ min: -4, max: 4 });
    fc.assert(
      fc.property(fc.array(fc.tuple(values, values), { minLength: 2, maxLength: 40 }), (pairs) => {
        const [x, y] = [pairs.map(([v]) => v), pairs.map(([, v]) => v)];
        fc.pre(new Set(x).size > 1 && new Set(y).size > 1);
        const expected = byDefinition(x, y);
        const found = rankCorrelation(Float64Array.from(x), Float64Array.from(y));
        expect(found.spearman).toBeCloseTo(expected.spearman, 12);
        expect(found.kendall).toBeCloseTo(expected.kendall, 12);
      }),
    );
  });

  it('gives what scipy.stats gives on a hand-made case with ties', () => {
    // scipy 1.17.1: spearmanr and kendalltau of these two lists.
    const x = Float64Array.of(1, 2, 2, 3, 5);
    const y = Float64Array.of(2, 1, 3, 3, 4);
    const { spearman, kendall } = rankCorrelation(x, y);
    expect(spearman).toBeCloseTo(0.7631578947368421, 12);
    expect(kendall).toBeCloseTo(0.6666666666666666, 12);
  });

  it('is 1 for an increasing function, −1 for a decreasing one, and NaN where one side is constant', () => {
    const x = Float64Array.of(3, 1, 2, 10);
    expect(rankCorrelation(x, x.map(Math.exp))).toEqual({ spearman: 1, kendall: 1 });
    expect(
      rankCorrelation(
        x,
        x.map((v) => -v),
      ),
    ).toEqual({ spearman: -1, kendall: -1 });
    expect(rankCorrelation(x, new Float64Array(4))).toEqual({ spearman: Number.NaN, kendall: Number.NaN });
    expect(rankCorrelation(new Float64Array(0), new Float64Array(0)).kendall).toBeNaN();
  });

  it('refuses unequal lengths and values that are not finite', () => {
    expect(() => rankCorrelation(Float64Array.of(1), Float64Array.of(1, 2))).toThrow('y has 2 values');
    expect(() => rankCorrelation(Float64Array.of(1, Number.NaN), Float64Array.of(1, 2))).toThrow(
      'x[1] is NaN',
    );
  });
});
