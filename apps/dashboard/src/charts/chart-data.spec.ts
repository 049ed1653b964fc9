import { describe, expect, it } from 'vitest';
import { alignSeries, countedInUpdates, lastValue, stackShares } from './chart-data';

const rollout = {
  name: 'rollout/success',
  source: 'collector',
  steps: [0, 1, 2],
  values: [0.1, 0.2, 0.3],
  times: [1000, 2000, 3000],
};
const validation = {
  name: 'validation/success',
  source: 'evaluation',
  steps: [2, 5],
  values: [0.25, 0.6],
  times: [3000, 6000],
};

describe('countedInUpdates', () => {
  const updates = {
    name: 'train/loss',
    source: 'trainer',
    steps: [1, 2, 3],
    values: [3, 2, 1],
    times: [1500, 1800, 2500],
  };

  it('puts rounds where the updates were, the first ones at 0', () => {
    expect(countedInUpdates(rollout, updates).steps).toEqual([0, 2, 3]);
  });

  it('is what it was in step with the updates, without updates, and for others than collectors', () => {
    expect(countedInUpdates(rollout, { ...updates, times: [1500, 2500, 3500] }).steps).toEqual(rollout.steps);
    expect(countedInUpdates(rollout, undefined)).toBe(rollout);
    expect(countedInUpdates(validation, updates)).toBe(validation);
  });
});

describe('alignSeries', () => {
  it('puts series of different steps over one axis, empty where a series has no value', () => {
    expect(alignSeries([rollout, validation], 'update', 0)).toEqual([
      [0, 1, 2, 5],
      [0.1, 0.2, 0.3, null],
      [null, null, 0.25, 0.6],
    ]);
  });

  it('counts seconds since the start on the time axis', () => {
    expect(alignSeries([validation], 'time', 1000)[0]).toEqual([2, 5]);
  });

  it('keeps the place of a series that is not there yet', () => {
    expect(alignSeries([undefined, validation], 'update', 0)).toEqual([
      [2, 5],
      [null, null],
      [0.25, 0.6],
    ]);
  });
});

describe('stackShares', () => {
  it('stacks amounts as shares of their sum', () => {
    expect(stackShares([[0], [1], [2], [1]])).toEqual([[0], [0.25], [0.75], [1]]);
  });

  it('leaves rows without amounts empty and takes a missing amount as none', () => {
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
  it('skips what is missing at the end', () => {
    expect(lastValue([1, 2, null])).toBe(2);
    expect(lastValue([])).toBeNull();
  });
});
