import { expect, it } from 'vitest';
import { resampleEpisodes } from './resample-episodes.js';

const scored = {
  totals: Float64Array.of(2, -1, NaN, 0, 5),
  episodesToTrain: Uint8Array.of(1, 1, 0, 1, 0),
};

it('resampling: draws as many episodes as are trained, by their weights, and none of the others', () => {
  const sums = new Float64Array(5);
  const numDraws = 4000;
  for (let seed = 0; seed < numDraws; seed++) {
    const copies = resampleEpisodes(scored, { rule: 'power', power: 2 }, seed);
    expect(copies.reduce((sum, count) => sum + count, 0)).toBe(3);
    copies.forEach((count, e) => {
      sums[e] += count;
    });
  }
  // Weights 4, 1 and 0 (that of the third is 1e-8): of 12,000 draws 9,600 and 2,400, standard deviation √(12000 · .8 · .2) = 44.
  expect(Math.abs(sums[0] - 9600)).toBeLessThan(4 * 44);
  expect(Math.abs(sums[1] - 2400)).toBeLessThan(4 * 44);
  expect([sums[2], sums[3], sums[4]]).toEqual([0, 0, 0]);
});

it('resampling: the same seed draws the same episodes', () => {
  const draw = (seed: number) => resampleEpisodes(scored, { rule: 'best' }, seed);
  expect(draw(3)).toEqual(draw(3));
  expect(new Set(Array.from({ length: 20 }, (_, seed) => draw(seed).join())).size).toBeGreaterThan(3);
});
