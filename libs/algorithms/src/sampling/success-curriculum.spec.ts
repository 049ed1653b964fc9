import { describe, expect, it } from 'vitest';
import { curriculumWeight } from './success-curriculum.js';

const half = { targetSuccess: 0.5, leastWeight: 0.1 };

describe('curriculumWeight', () => {
  it.each([
    // 1 − 0.9·|rate − 0.5|/0.5
    [5, 10, 1],
    [0, 10, 0.1],
    [10, 10, 0.1],
    [3, 4, 0.55],
    [0, 0, 1],
  ])('of %i successes in %i episodes is %d at a target of a half', (numSuccesses, numEpisodes, weight) => {
    expect(curriculumWeight({ numSuccesses, numEpisodes }, half)).toBeCloseTo(weight, 12);
  });

  it('falls to the least weight at the end that is further from the target', () => {
    const hard = { targetSuccess: 0.25, leastWeight: 0.2 };
    expect(curriculumWeight({ numSuccesses: 4, numEpisodes: 4 }, hard)).toBeCloseTo(0.2, 12);
    const easy = { targetSuccess: 0.75, leastWeight: 0.2 };
    expect(curriculumWeight({ numSuccesses: 0, numEpisodes: 4 }, easy)).toBeCloseTo(0.2, 12);
    expect(curriculumWeight({ numSuccesses: 4, numEpisodes: 4 }, easy)).toBeCloseTo(1 - 0.8 / 3, 12);
    // 1 − 0.8·0.25/0.75
    expect(curriculumWeight({ numSuccesses: 0, numEpisodes: 4 }, hard)).toBeCloseTo(1 - 0.8 / 3, 12);
  });

  it('refuses more successes than episodes', () => {
    expect(() => curriculumWeight({ numSuccesses: 2, numEpisodes: 1 }, half)).toThrow(
      expect.objectContaining({ message: 'numSuccesses is 2, must be at most numEpisodes, 1' }),
    );
  });
});
