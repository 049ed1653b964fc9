import { describe, expect, it } from 'vitest';
import type { MetricSeries } from '../api-types/schema';
import { mergeMetricPoints, type MetricPoint } from './merge-metrics';

const loss: MetricSeries = {
  name: 'train/loss',
  source: 'trainer',
  steps: [1, 2, 4],
  values: [3, 2, 1],
  times: [10, 20, 40],
};
const point = (step: number, value: number, name = 'train/loss'): MetricPoint => ({
  source: 'trainer',
  name,
  step,
  value,
  time: step * 10,
});

describe('mergeMetricPoints', () => {
  it('appends newer points without changing the given series', () => {
    const [merged] = mergeMetricPoints([loss], [point(5, 0.5)]);
    expect(merged.steps).toEqual([1, 2, 4, 5]);
    expect(merged.values).toEqual([3, 2, 1, 0.5]);
    expect(loss.steps).toEqual([1, 2, 4]);
  });

  it('replaces the point at a step that the series has', () => {
    const [merged] = mergeMetricPoints([loss], [point(4, 9)]);
    expect(merged.steps).toEqual([1, 2, 4]);
    expect(merged.values).toEqual([3, 2, 9]);
  });

  it('inserts a late point in order', () => {
    const [merged] = mergeMetricPoints([loss], [point(3, 7)]);
    expect(merged.steps).toEqual([1, 2, 3, 4]);
    expect(merged.values).toEqual([3, 2, 7, 1]);
    expect(merged.times).toEqual([10, 20, 30, 40]);
  });

  it('starts a series that was missing', () => {
    const merged = mergeMetricPoints([loss], [point(1, 0.7, 'train/entropy')]);
    expect(merged).toHaveLength(2);
    expect(merged[0]).toBe(loss);
    expect(merged[1]).toEqual({
      name: 'train/entropy',
      source: 'trainer',
      steps: [1],
      values: [0.7],
      times: [10],
    });
  });

  it('gives the same series when the same points are merged twice', () => {
    const points = [point(5, 0.5), point(6, 0.4)];
    const once = mergeMetricPoints([loss], points);
    expect(mergeMetricPoints(once, points)).toEqual(once);
  });
});
