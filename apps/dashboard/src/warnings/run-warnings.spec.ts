import { expect, it } from 'vitest';
import { describeWarning } from './run-warnings';

it('a warning says who warns, in which update or round, what, and how often so far', () => {
  const warning = {
    severity: 'warning',
    raisedAt: '2026-01-01T00:00:00Z',
    message: 'all rewards are missing',
    ...{ rule: '', advice: '', episodeIds: [] },
  } as const;
  expect(describeWarning({ ...warning, source: 'trainer', step: 3, numTimes: 4 })).toBe(
    'trainer: update 3: all rewards are missing (4 times so far)',
  );
  expect(describeWarning({ ...warning, source: 'collector', step: 0, numTimes: 1 })).toBe(
    'collector: round 0: all rewards are missing',
  );
  expect(describeWarning({ ...warning, source: 'store', step: null, numTimes: 1 })).toBe(
    'store: all rewards are missing',
  );
});
