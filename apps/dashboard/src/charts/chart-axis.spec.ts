import { describe, expect, it } from 'vitest';
import type { MetricSeries } from '../api-types/schema';
import { placeSeries, trainedAmounts } from './chart-axis';

const series = (name: string, points: Readonly<Record<number, number>>): MetricSeries => {
  const steps = Object.keys(points).map(Number);
  return { name, source: 'trainer', steps, values: Object.values(points), times: steps.map((s) => s * 1000) };
};

const tokens = series('train/numActionTokens', { 3: 10, 4: 20, 6: 30 });
const loss = series('train/loss', { 0: 5, 3: 4, 4: 3, 5: 2, 6: 1, 7: 0 });

describe('trainedAmounts', () => {
  it('sums up what the updates were trained on; one that does not say adds nothing', () => {
    const trained = trainedAmounts([loss, tokens], 'tokens', 1000);
    expect(trained).toEqual({ updates: [3, 4, 6], amounts: [10, 30, 60] });
  });

  it('counts a mean of a stretch as often as the stretch has updates', () => {
    const thinned = series('train/numActionTokens', { 12: 10, 14: 20, 16: 30 });
    // Two updates each: 2·10, 2·20 and 2·30; the updates 1 to 10 were of another stage.
    expect(trainedAmounts([thinned], 'tokens', 3)?.amounts).toEqual([20, 60, 120]);
  });

  it('has the steps of all episodes of an update', () => {
    const episodes = series('train/numEpisodes', { 1: 4, 2: 6 });
    const steps = series('episode/steps/mean', { 1: 2.5, 2: 3 });
    expect(trainedAmounts([steps, episodes], 'steps', 1000)?.amounts).toEqual([10, 28]);
    expect(trainedAmounts([steps, episodes], 'episodes', 1000)?.amounts).toEqual([4, 10]);
  });

  it('is undefined where a run does not record the amount', () => {
    expect(trainedAmounts([loss], 'tokens', 1000)).toBeUndefined();
    expect(trainedAmounts([series('train/numEpisodes', { 1: 4 })], 'steps', 1000)).toBeUndefined();
  });
});

describe('placeSeries', () => {
  it('places points at seconds since the start', () => {
    expect(placeSeries(tokens, 'time', { startMs: 1000 }).xs).toEqual([2, 3, 5]);
  });

  it('places points at what the run was trained on by their update, linear between two that are known', () => {
    const trained = trainedAmounts([tokens], 'tokens', 1000);
    const placed = placeSeries(loss, 'tokens', { startMs: 0, trained });
    expect(placed.xs).toEqual([0, 10, 30, 45, 60, 60]);
    expect(placed.steps).toEqual(loss.steps);
  });

  it('has no points on the axis of an amount that the run does not record', () => {
    expect(placeSeries(loss, 'tokens', { startMs: 0 })).toMatchObject({ xs: [], steps: [], values: [] });
  });
});
