import { describe, expect, it } from 'vitest';
import type { MetricSeries, SqlResult } from '../api-types/schema';
import { placeSeries } from '../charts/chart-axis';
import { countedInUpdates } from '../charts/chart-data';
import { nameFault, queryOfRun, seriesOfResult } from './user-metric';

const METRIC = { name: 'lag', query: '' };
const answer = (columns: SqlResult['columns'], rows: SqlResult['rows'], truncated = false): SqlResult => ({
  ...{ columns, rows, truncated, numRows: rows.length, elapsedMs: 1 },
});
const X = { name: 'x', type: 'UInt32' };
const VALUE = { name: 'value', type: 'Nullable(Float64)' };
const updates: MetricSeries = {
  ...{ name: 'train/loss', source: 'trainer', steps: [1, 2, 4], values: [3, 2, 1], times: [100, 200, 400] },
};

it('the query of a run has its id as a text, wherever it is named', () => {
  expect(queryOfRun('SELECT {run} = run_id, {run}', 'a-1')).toBe("SELECT 'a-1' = run_id, 'a-1'");
});

it('a name has no commas, and is not that of another metric', () => {
  expect(nameFault('a, b', [])).toBe('A name has no commas.');
  expect(nameFault('a', ['a'])).toBe('There is a metric “a” already.');
  expect(nameFault('a', ['b'])).toBeNull();
});

describe('seriesOfResult', () => {
  it('is in ascending order, at the times of the updates, without rows that have no finite value', () => {
    const rows = [
      [4, 8],
      [2, 'nan'],
      [1, 5],
      [3, null],
      [9, '7'],
    ];
    expect(seriesOfResult(METRIC, answer([VALUE, X].toReversed(), rows), updates)).toEqual({
      ...{ name: 'sql/lag', source: 'trainer', steps: [1, 4, 9], values: [5, 8, 7], times: [100, 400, 400] },
    });
  });

  it('takes times, which are in UTC', () => {
    const time = { name: 'x', type: "DateTime64(3, 'UTC')" };
    const series = seriesOfResult(METRIC, answer([time, VALUE], [['1970-01-01 00:00:01.500', 2]]), updates);
    expect(series).toMatchObject({ source: 'collector', times: [1500], values: [2] });
    expect(countedInUpdates(series, { ...updates, times: [1000, 2000, 3000] }).steps).toEqual([1]);
    // In a run without updates it has a place on the axis of time only.
    const origin = { startMs: 1000 };
    expect(placeSeries(countedInUpdates(series, undefined), 'update', origin).xs).toEqual([]);
    expect(placeSeries(series, 'time', origin).xs).toEqual([0.5]);
  });

  it.each([
    [answer([VALUE], []), 'The query must give the columns x and value; it gives value.'],
    [answer([{ ...X, type: 'String' }, VALUE], []), 'Column x must be a number or a time, got String.'],
    [answer([X, { ...VALUE, type: 'String' }], []), 'Column value must be a number, got String.'],
    [
      answer(
        [X, VALUE],
        [
          [3, 1],
          [3, 2],
        ],
      ),
      'Column x has 3 more than once; a chart needs one row for each x.',
    ],
    [
      answer([X, VALUE], [[1, 2]], true),
      'The query gives more than 10000 rows; a chart needs one for each x.',
    ],
  ])('refuses an answer of another form, and says what it must have (%#)', (result, message) => {
    expect(() => seriesOfResult(METRIC, result, updates)).toThrow(message);
  });
});
