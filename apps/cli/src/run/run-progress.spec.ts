import { describe, expect, it } from 'vitest';
import { ControlFold, type AnyEvent, type ControlEventKind, type PayloadOf } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { formatDuration, formatFigure, RunProgress } from './run-progress.js';

describe('formatFigure', () => {
  it.each([
    [0.123456, '0.123'],
    [-0.00012345, '-0.000123'],
    [12345.6, '12,346'],
    [0, '0'],
    [Number.NaN, '–'],
  ])('writes %d as %s', (value, text) => {
    expect(formatFigure(value)).toBe(text);
  });
});

describe('formatDuration', () => {
  it.each([
    [0.2, '0 s'],
    [59.6, '1 min'],
    [200, '3 min 20 s'],
    [3600, '1 h'],
    [7500, '2 h 5 min'],
    [7230, '2 h'],
    [273_600, '3 d 4 h'],
  ])('writes %d seconds as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});

describe('RunProgress', () => {
  const RUN = '01936d00-0000-7000-8000-00000000000a';

  /** The lines that updates at these seconds give, in a run of ten updates after two of imitation. */
  function linesAt(seconds: readonly number[], firstUpdate = 1): (string | null)[] {
    const fold = new ControlFold();
    const progress = new RunProgress({ numUpdates: 10, imitation: { numUpdates: 2 } as never });
    const apply = <K extends ControlEventKind>(kind: K, payload: Partial<PayloadOf<K>>, second = 0) => {
      const event = controlEvent({ logId: '', runId: RUN, occurredAtUs: second * 1e6 }, kind, payload);
      fold.apply(event as AnyEvent, fold.nextOffset);
      const run = fold.run(RUN);
      return run ? progress.describe(event as AnyEvent, run) : null;
    };
    apply('RunStarted', {});
    const values = Float64Array.of(0.25);
    return seconds.map((second, i) =>
      apply(
        'MetricsLogged',
        { source: 'trainer', step: firstUpdate + i, names: ['train/entropy'], values },
        second,
      ),
    );
  }

  it('says which update of how many it is, and how long the rest takes at the mean of those that were seen', () => {
    // 10 and 20 seconds for an update: 15 on average; after update 3, 9 are left.
    expect(linesAt([100, 110, 130])).toEqual([
      'update 1 of 12 · entropy 0.25',
      'update 2 of 12, 1 min 40 s left · entropy 0.25',
      'update 3 of 12, 2 min 15 s left · entropy 0.25',
    ]);
  });

  it('names no time after the last update', () => {
    expect(linesAt([0, 1], 11).at(-1)).toBe('update 12 of 12 · entropy 0.25');
  });

  it('takes the last twenty updates only', () => {
    const slowThenFast = [0, ...Array.from({ length: 21 }, (_, i) => 1000 + i)];
    // Update 22 − 20 = 2 … counted from −12: twenty intervals of a second, and 3 updates left.
    expect(linesAt(slowThenFast, -12).at(-1)).toBe('update 9 of 12, 3 s left · entropy 0.25');
  });
});
