import { describe, expect, it } from 'vitest';
import { formatProgress } from './run-table';

describe('the progress of a run', () => {
  it.each([
    [null, '–'],
    [{ updateNumber: 0, numUpdates: 1500, secondsLeft: null }, '0 of 1,500'],
    [{ updateNumber: 62, numUpdates: 150, secondsLeft: 491.6 }, '62 of 150, 8m 12s left'],
    [{ updateNumber: 149, numUpdates: 150, secondsLeft: 0.2 }, '149 of 150, 1 s left'],
    [{ updateNumber: 150, numUpdates: 150, secondsLeft: 0 }, '150 of 150'],
  ])('%j is shown as %s', (progress, shown) => {
    expect(formatProgress(progress)).toBe(shown);
  });
});
