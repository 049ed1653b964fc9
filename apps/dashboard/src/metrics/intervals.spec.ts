import { describe, expect, it } from 'vitest';
import { estimateDifference, meanRate, studentQuantile } from './intervals';

describe('studentQuantile', () => {
  // Table 26.10 of Abramowitz and Stegun, Handbook of Mathematical Functions.
  it.each([
    [1, 12.706],
    [2, 4.303],
    [3, 3.182],
    [4, 2.776],
    [5, 2.571],
    [6, 2.447],
    [9, 2.262],
    [15, 2.131],
    [30, 2.042],
    [120, 1.98],
  ])('of %i degrees of freedom is %f', (freedom, quantile) => {
    expect(studentQuantile(freedom)).toBeCloseTo(quantile, 3);
  });
});

describe('meanRate', () => {
  it('has the interval of a textbook: 5 values of mean 0.3 and deviation √0.025', () => {
    const { value, low, high } = meanRate([0.1, 0.2, 0.3, 0.4, 0.5]);
    expect(value).toBeCloseTo(0.3, 12);
    expect([low, high].map((end) => end.toFixed(4))).toEqual(['0.1037', '0.4963']);
  });

  it('lies in [0, 1], and so the difference of two of them in [−1, 1]', () => {
    const wide = meanRate([0.4, 0.6]);
    expect(wide).toEqual({ value: 0.5, low: 0, high: 1 });
    const { low, high } = estimateDifference(wide, meanRate([0.5, 0.9]));
    expect(low).toBeGreaterThanOrEqual(-1);
    expect(high).toBeLessThanOrEqual(1);
  });

  it('knows no interval of rates that are all equal, nor of one', () => {
    expect(meanRate([0.1, 0.1, 0.1])).toMatchObject({ low: Number.NaN, high: Number.NaN });
    expect(meanRate([0.5])).toEqual({ value: 0.5, low: Number.NaN, high: Number.NaN });
  });
});

describe('estimateDifference', () => {
  it('of two rates with their Wilson intervals is Newcombe’s: 56 of 70 and 48 of 80 (1998, table II, method 10)', () => {
    const second = { value: 56 / 70, low: 0.691834, high: 0.876953 };
    const first = { value: 48 / 80, low: 0.490455, high: 0.700382 };
    const { value, low, high } = estimateDifference(first, second);
    expect(value).toBeCloseTo(0.2, 10);
    expect(low).toBeCloseTo(0.0524, 4);
    expect(high).toBeCloseTo(0.3339, 4);
  });
});
