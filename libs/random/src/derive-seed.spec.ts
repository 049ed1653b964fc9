import { describe, expect, it } from 'vitest';
import { deriveSeed, hashText } from './derive-seed.js';

describe('deriveSeed', () => {
  it('gives different seeds when its parts are joined differently', () => {
    expect(deriveSeed('a', 'bc')).not.toBe(deriveSeed('ab', 'c'));
    expect(deriveSeed(1, 23)).not.toBe(deriveSeed(12, 3));
  });

  it('gives unrelated 32-bit seeds for neighbouring indices', () => {
    const numSeeds = 4096;
    const seeds = Array.from({ length: numSeeds }, (_, index) => deriveSeed('task', index));
    expect(new Set(seeds).size).toBe(numSeeds);
    // Each of the 32 bits is set in about half of them (five standard deviations: 5 · √4096 / 2 = 160).
    for (let bit = 0; bit < 32; bit++) {
      const numSet = seeds.filter((seed) => (seed >>> bit) & 1).length;
      expect(Math.abs(numSet - numSeeds / 2)).toBeLessThan(160);
    }
  });

  it('gives the recorded seeds, on which stored tasks depend', () => {
    expect([hashText(''), hashText('frozen-lake'), deriveSeed('bandit', 7)]).toMatchInlineSnapshot(`
      [
        2872998923,
        2265102383,
        2928729565,
      ]
    `);
  });
});
