import { describe, expect, it } from 'vitest';
import type { MetricSeries } from '../api-types/schema';
import { placeSeries, type ChartAxis } from './chart-axis';
import {
  alignSeries,
  countedInUpdates,
  lastValue,
  nearestStep,
  positiveColumns,
  smoothColumns,
  stackShares,
  valueAtRow,
} from './chart-data';

const rollout: MetricSeries = {
  name: 'rollout/success',
  source: 'collector',
  steps: [0, 1, 2],
  values: [0.1, 0.2, 0.3],
  times: [1000, 2000, 3000],
};
const validation: MetricSeries = {
  name: 'validation/success',
  source: 'evaluation',
  steps: [2, 5],
  values: [0.25, 0.6],
  times: [3000, 6000],
};

const placed = (series: MetricSeries, axis: ChartAxis = 'update') =>
  placeSeries(series, axis, { startMs: 1000 });

describe('countedInUpdates', () => {
  const updates: MetricSeries = {
    name: 'train/loss',
    source: 'trainer',
    steps: [1, 2, 3],
    values: [3, 2, 1],
    times: [1500, 1800, 2500],
  };

  it('puts each round at the last update applied by then, and at 0 before the first', () => {
    expect(countedInUpdates(rollout, updates).steps).toEqual([0, 2, 3]);
  });

  it('keeps a series whose rounds are in step with the updates, a series without updates, and one that is not of a collector', () => {
    expect(countedInUpdates(rollout, { ...updates, times: [1500, 2500, 3500] }).steps).toEqual(rollout.steps);
    expect(countedInUpdates(rollout, undefined)).toBe(rollout);
    expect(countedInUpdates(validation, updates)).toBe(validation);
  });
});

describe('alignSeries', () => {
  it('puts series with different steps over one axis, with null where a series has no value', () => {
    expect(alignSeries([placed(rollout), placed(validation)])).toEqual([
      [0, 1, 2, 5],
      [0.1, 0.2, 0.3, null],
      [null, null, 0.25, 0.6],
    ]);
  });

  it('keeps an empty column for a series that is missing', () => {
    expect(alignSeries([undefined, placed(validation)])).toEqual([
      [2, 5],
      [null, null],
      [0.25, 0.6],
    ]);
  });
});

describe('stackShares', () => {
  it('gives cumulative shares of the sum', () => {
    expect(stackShares([[0], [1], [2], [1]])).toEqual([[0], [0.25], [0.75], [1]]);
  });

  it('leaves a row without amounts empty and counts a missing amount as 0', () => {
    expect(
      stackShares([
        [0, 1],
        [null, 3],
        [null, null],
      ]),
    ).toEqual([
      [0, 1],
      [null, 1],
      [null, 1],
    ]);
  });
});

describe('lastValue', () => {
  it('skips missing values at the end', () => {
    expect(lastValue([1, 2, null])).toBe(2);
    expect(lastValue([])).toBeNull();
  });
});

describe('valueAtRow', () => {
  it('is the last value before a row between two values, and none outside of all values', () => {
    const column = [null, 1, null, 3, null];
    expect(column.map((_, row) => valueAtRow(column, row))).toEqual([null, 1, 1, 3, null]);
  });
});

describe('smoothColumns', () => {
  it('gives the mean of all values so far, each weighed by the smoothing to the power of its age', () => {
    const [xs, smoothed] = smoothColumns(
      [
        [1, 2, 3, 4],
        [8, null, 2, 5],
      ],
      0.5,
    );
    expect(xs).toEqual([1, 2, 3, 4]);
    // (2 + ½·8) / 1.5 and (5 + ½·2 + ¼·8) / 1.75
    expect(smoothed).toEqual([8, null, 4, 8 / 1.75]);
  });

  it('keeps a constant as it is, and changes nothing without smoothing', () => {
    const [, constant] = smoothColumns(
      [
        [0, 1, 2],
        [3, 3, 3],
      ],
      0.9,
    );
    constant.forEach((value) => expect(value).toBeCloseTo(3, 12));
    expect(
      smoothColumns(
        [
          [0, 1],
          [3, 4],
        ],
        0,
      ),
    ).toEqual([
      [0, 1],
      [3, 4],
    ]);
  });
});

describe('positiveColumns', () => {
  it('leaves out what is not above 0', () => {
    expect(
      positiveColumns([
        [0, 1, 2, 3],
        [2, 0, -1, null],
      ]),
    ).toEqual([
      [0, 1, 2, 3],
      [2, null, null, null],
    ]);
  });

  it('lets a band reach down to the least value where its lower end is not above 0', () => {
    const [, , low, high] = positiveColumns(
      [
        [0, 1, 2],
        [2, 1, null],
        [0.5, -1, null],
        [3, 4, null],
      ],
      1,
    );
    expect(low).toEqual([0.5, 0.5, null]);
    expect(high).toEqual([3, 4, null]);
  });
});

describe('nearestStep', () => {
  it('is the update of the nearest point, by updates and by time', () => {
    expect(nearestStep([placed(rollout), placed(validation)], 5)).toBe(5);
    expect(nearestStep([placed(rollout, 'time'), undefined, placed(validation, 'time')], 4.2)).toBe(5);
    expect(nearestStep([placed(rollout, 'time')], 0.9)).toBe(1);
  });

  it('is null without points, and at one that is between two updates', () => {
    expect(nearestStep([placed({ ...rollout, steps: [0, 1.5, 2] })], 1.4)).toBeNull();
    expect(nearestStep([undefined], 5)).toBeNull();
  });
});
