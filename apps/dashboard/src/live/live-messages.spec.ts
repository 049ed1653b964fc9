import { expect, it } from 'vitest';
import type { LiveMetrics } from '../api-types/schema';
import { toMetricPoints } from './live-messages';

it('toMetricPoints leaves out values that are unavailable', () => {
  const message: LiveMetrics = {
    source: 'trainer',
    step: 3,
    time: 1000,
    names: ['a', 'b', 'c'],
    values: [1, null, 0],
  };
  expect(toMetricPoints(message)).toEqual([
    { source: 'trainer', name: 'a', step: 3, value: 1, time: 1000 },
    { source: 'trainer', name: 'c', step: 3, value: 0, time: 1000 },
  ]);
});
