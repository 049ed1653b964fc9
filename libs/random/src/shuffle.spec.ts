import { expect, it } from 'vitest';
import { Pcg32 } from './pcg32.js';
import { shuffle } from './shuffle.js';

it('shuffle: gives each of the six orders of three values equally often', () => {
  const random = new Pcg32(5);
  const counts = new Map<string, number>();
  for (let draw = 0; draw < 6000; draw++) {
    const values = Int32Array.of(1, 2, 3);
    shuffle(values, random);
    counts.set(values.join(), (counts.get(values.join()) ?? 0) + 1);
  }
  expect(counts.size).toBe(6);
  // Expectation 1000 each, standard deviation √(6000 · ⅙ · ⅚) = 29.
  for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(4 * 29);
});
