import { describe, expect, it } from 'vitest';
import { uniformAt } from './uniform.js';

describe('uniformAt', () => {
  it('depends only on the seed and the counter, and on all of their bits', () => {
    expect(uniformAt(5, 7)).toBe(uniformAt(5, 7));
    const others = [
      uniformAt(6, 7),
      uniformAt(5, 8),
      uniformAt(5 + 2 ** 40, 7),
      uniformAt(7, 5),
      uniformAt(-5, 7),
    ];
    expect(new Set([uniformAt(5, 7), ...others]).size).toBe(6);
  });

  it('is strictly between 0 and 1 in float32, evenly over seeds and over counters', () => {
    for (const draw of [(i: number) => uniformAt(i, 26), (i: number) => uniformAt(123, i)]) {
      const bins = new Float64Array(20);
      const numDraws = 20_000;
      for (let i = 0; i < numDraws; i++) {
        const u = Math.fround(draw(i));
        expect(u > 0 && u < 1).toBe(true);
        bins[Math.floor(u * 20)]++;
      }
      const expected = numDraws / 20;
      const chiSquared = bins.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
      // 19 degrees of freedom: the 99.9 % quantile is 43.8.
      expect(chiSquared).toBeLessThan(43.8);
    }
  });
});
