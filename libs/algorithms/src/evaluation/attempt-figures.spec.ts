import { describe, expect, it } from 'vitest';
import { attemptFigures, type TaskAttempt } from './attempt-figures.js';

/** Attempts at tasks `a`, `b` …, one text of 0 and 1 for each. */
function attemptsOf(...outcomes: readonly string[]): TaskAttempt[] {
  return outcomes.flatMap((ofTask, t) =>
    [...ofTask].map((outcome) => ({ task: 'abcd'[t], isSuccess: outcome === '1' })),
  );
}

describe('attemptFigures', () => {
  it('averages pass@k over the tasks with enough attempts', () => {
    // pass@1: (2/4 + 0/4)/2; pass@2: (1 − C(2,2)/C(4,2) + 0)/2 = (5/6)/2; pass@4: (1 + 0)/2.
    const { passAtK, rate, numSuccesses } = attemptFigures(attemptsOf('1100', '0000'));
    expect([rate, numSuccesses]).toEqual([0.25, 2]);
    expect(passAtK.map(({ k, numTasks }) => [k, numTasks])).toEqual([
      [1, 2],
      [2, 2],
      [4, 2],
    ]);
    [0.25, 5 / 12, 0.5].forEach((pass, i) => expect(passAtK[i].pass).toBeCloseTo(pass, 12));
    const uneven = attemptFigures(attemptsOf('110', '0')).passAtK;
    expect(uneven.map(({ k, pass, numTasks }) => [k, pass, numTasks])).toEqual([
      [1, expect.closeTo((2 / 3 + 0) / 2, 12), 2],
      [2, 1, 1],
      [3, 1, 1],
    ]);
  });

  it('gives Wilson’s interval with one attempt at each task', () => {
    // 1 of 2, z = 1.96: center 0.5, margin z/(1 + z²/2)·√(0.25/2 + z²/16) = 0.4055.
    const { interval, effectiveEpisodes } = attemptFigures(attemptsOf('1', '0'));
    expect(effectiveEpisodes).toBe(2);
    expect(interval.low).toBeCloseTo(0.0945, 3);
    expect(interval.high).toBeCloseTo(0.9055, 3);
  });

  it('has no rate, and the widest interval, without attempts', () => {
    expect(attemptFigures([])).toEqual({
      numSuccesses: 0,
      rate: null,
      interval: { low: 0, high: 1 },
      effectiveEpisodes: 0,
      passAtK: [],
    });
  });
});
