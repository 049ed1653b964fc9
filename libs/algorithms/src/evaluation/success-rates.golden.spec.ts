import { describe, expect, it } from 'vitest';
import { uniformInts } from './bootstrap.js';
import { readGolden } from '../testing/golden.js';
import { clusterByGroup } from './clusters.js';
import { comparePaired, mcnemarPValue } from './paired-comparison.js';
import { passAtK } from './pass-at-k.js';
import { successRate, wilsonInterval } from './success-rate.js';

const golden = readGolden('success-rates.json') as {
  readonly tolerance: number;
  readonly wilson: readonly { numSuccesses: number; numTrials: number; low: number; high: number }[];
  readonly mcnemar: readonly { numOnlyFirst: number; numOnlySecond: number; pValue: number }[];
  readonly passAtK: readonly { numAttempts: number; numSuccesses: number; k: number; pass: number }[];
};
const { tolerance } = golden;

const tasksOf = (...tasks: readonly number[]) => clusterByGroup(Int32Array.from(tasks), tasks.length);

describe('wilsonInterval', () => {
  it.each(golden.wilson)(
    'equals scipy’s for $numSuccesses of $numTrials',
    ({ numSuccesses, numTrials, ...bounds }) => {
      const { low, high } = wilsonInterval(numSuccesses / numTrials, numTrials);
      expect(Math.abs(low - bounds.low)).toBeLessThan(tolerance);
      expect(Math.abs(high - bounds.high)).toBeLessThan(tolerance);
    },
  );

  it('gives the interval that Newcombe (1998, table I) prints for 81 of 263: 0.2553 to 0.3662', () => {
    const { low, high } = wilsonInterval(81 / 263, 263);
    expect([low.toFixed(4), high.toFixed(4)]).toEqual(['0.2553', '0.3662']);
  });

  it('knows nothing without trials, and refuses rates outside [0, 1]', () => {
    expect(wilsonInterval(Number.NaN, 0)).toEqual({ low: 0, high: 1 });
    expect(() => wilsonInterval(1.5, 10)).toThrow('rate is 1.5, must be in [0, 1]');
  });
});

describe('successRate', () => {
  it('is Wilson’s interval of the episodes with one attempt at each task', () => {
    const { rate, interval, effectiveEpisodes } = successRate([1, 0, 0, 0], tasksOf(0, 1, 2, 3));
    expect({ rate, effectiveEpisodes }).toEqual({ rate: 0.25, effectiveEpisodes: 4 });
    expect(interval).toEqual(wilsonInterval(0.25, 4));
  });

  it('counts tasks where the attempts at each task end alike', () => {
    const { rate, effectiveEpisodes } = successRate([1, 1, 0, 0, 0, 0], tasksOf(0, 0, 1, 1, 2, 2));
    expect(rate).toBeCloseTo(1 / 3, 12);
    expect(effectiveEpisodes).toBe(3);
  });

  it('counts between tasks and episodes where attempts resemble each other a little', () => {
    // p = 1/2; Σ(s − p n)² = 2·(1)² + 4·0 = 2 over C = 6 tasks: variance 2·(6/5)/12² = 1/60, so 0.25·60 = 15 → the 12 episodes.
    expect(
      successRate([1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0], tasksOf(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5))
        .effectiveEpisodes,
    ).toBe(12);
    const { effectiveEpisodes } = successRate(
      [1, 1, 1, 0, 0, 0, 1, 0, 0, 0],
      tasksOf(0, 0, 1, 1, 2, 2, 3, 3, 4, 4),
    );
    // p = 0.4: Σ(s − 0.8)² = 1.44 + 0.04 + 0.64 + 0.04 + 0.64 = 2.8; 2.8·1.25/100 = 0.035; 0.24/0.035 = 6.857.
    expect(effectiveEpisodes).toBeCloseTo(0.24 / 0.035, 9);
  });

  it('counts tasks where every attempt succeeded, and knows nothing without episodes', () => {
    expect(successRate([1, 1, 1, 1], tasksOf(0, 0, 1, 1)).interval).toEqual(wilsonInterval(1, 2));
    expect(successRate([], tasksOf())).toEqual({
      rate: Number.NaN,
      interval: { low: 0, high: 1 },
      effectiveEpisodes: 0,
    });
  });
});

describe('passAtK', () => {
  it.each(golden.passAtK)(
    'equals the exact fraction for $numSuccesses of $numAttempts at k = $k',
    ({ pass, ...of }) => {
      expect(Math.abs(passAtK(of.numAttempts, of.numSuccesses, of.k) - pass)).toBeLessThan(1e-12);
    },
  );

  it('is the share of the k-subsets of attempts with a success, counted one by one', () => {
    // n = 5, c = 2, k = 2: of the 10 pairs, the 3 of the three failures have none.
    expect(passAtK(5, 2, 2)).toBeCloseTo(7 / 10, 12);
  });

  it('refuses more attempts than there were', () => {
    expect(() => passAtK(3, 1, 4)).toThrow('numAttempts is 3, must be a whole number at least 4');
    expect(() => passAtK(3, 4, 1)).toThrow('numSuccesses is 4, must be a whole number from 0 to 3');
  });
});

describe('comparePaired', () => {
  it.each(golden.mcnemar)(
    'has scipy’s exact p-value for $numOnlyFirst and $numOnlySecond discordant pairs',
    ({ numOnlyFirst, numOnlySecond, pValue }) => {
      const found = mcnemarPValue(numOnlyFirst, numOnlySecond);
      expect(Math.abs(found - pValue)).toBeLessThanOrEqual(1e-9 * pValue);
    },
  );

  it('counts who solved what, and turns its sign when the policies are exchanged', () => {
    const [first, second] = [
      [1, 1, 0, 0],
      [0, 1, 1, 1],
    ];
    const one = comparePaired(first, second, { isSingleAttempt: true });
    const other = comparePaired(second, first, { isSingleAttempt: true });
    expect(one).toMatchObject({
      difference: 0.25,
      mcnemar: { numOnlyFirst: 1, numOnlySecond: 2, pValue: 1 },
    });
    expect(other.difference).toBe(-one.difference);
    expect(other.interval.low).toBeCloseTo(-one.interval.high, 12);
  });

  it('has the interval of Bonett and Price, worked out by hand', () => {
    // Of 10 tasks 1 only by the first, 4 only by the second: with (2, 5) of 12 the mean is 3/12 and the variance 7/12 − (3/12)².
    const first = [1, 0, 0, 0, 0, 1, 1, 0, 0, 0];
    const second = [0, 1, 1, 1, 1, 1, 1, 0, 0, 0];
    const { interval } = comparePaired(first, second, { isSingleAttempt: true });
    const margin = 1.959963984540054 * Math.sqrt((7 / 12 - 1 / 16) / 12);
    expect(interval.low).toBeCloseTo(1 / 4 - margin, 12);
    expect(interval.high).toBeCloseTo(1 / 4 + margin, 12);
  });

  it.each([
    [0.9, 0.95, 20],
    [0.02, 0.05, 30],
    [0.98, 1, 100],
    [0.5, 0.6, 50],
    [0.1, 0.5, 8],
  ])('contains the difference of the rates %d and %d in 95 of 100 samples of %i tasks', (p, q, numTasks) => {
    const random = uniformInts(7);
    const sample = (rate: number) =>
      Array.from({ length: numTasks }, () => Number(random(1_000_000) < rate * 1_000_000));
    const numSamples = 4_000;
    let numContaining = 0;
    for (let i = 0; i < numSamples; i++) {
      const { interval } = comparePaired(sample(p), sample(q), { isSingleAttempt: true });
      numContaining += Number(interval.low <= q - p && q - p <= interval.high);
    }
    // Three standard errors of 4,000 samples below 95 %.
    expect(numContaining / numSamples).toBeGreaterThan(0.95 - 3 * Math.sqrt((0.95 * 0.05) / numSamples));
  });

  it.each([
    ['all tie', [1, 1, 0], [1, 1, 0]],
    ['the second sweeps', [0, 0, 0], [1, 1, 1]],
    ['every task gains the same', [0.25, 0.5], [0.5, 0.75]],
  ])('has an interval of some width where %s', (_, first, second) => {
    const { interval, difference } = comparePaired(first, second, { isSingleAttempt: false });
    expect(interval.high - interval.low).toBeGreaterThan(0.3);
    expect(interval.low).toBeLessThanOrEqual(difference);
    expect(interval.high).toBeGreaterThanOrEqual(difference);
  });

  it('knows nothing without tasks', () => {
    const { difference, interval } = comparePaired([], [], { isSingleAttempt: true });
    expect([difference, interval.low, interval.high]).toEqual([NaN, NaN, NaN]);
  });
});
