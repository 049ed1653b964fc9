import { describe, expect, it } from 'vitest';
import type { SqlResult } from '../api-types/schema';
import { defaultPlot, MAX_LINES, namesOfPlot, plotByNames, plotOfResult } from './plot-of-result';

function resultOf(types: Readonly<Record<string, string>>, rows: readonly unknown[][]): SqlResult {
  const columns = Object.entries(types).map(([name, type]) => ({ name, type }));
  return { columns, rows: rows as unknown[][], numRows: rows.length, truncated: false, elapsedMs: 1 };
}

describe('the chart of a result', () => {
  it('has the first number as x-axis and the next as line, in ascending order', () => {
    const result = resultOf({ version: 'Int64', success: 'Nullable(Float64)', episodes: 'UInt64' }, [
      [3, 0.5, '9007199254740993'],
      [1, null, 4],
      [2, 0.25, 5],
    ]);
    expect(defaultPlot(result)).toEqual({ x: 0, ys: [1], by: null });
    expect(plotOfResult(result, { x: 0, ys: [1, 2], by: null })).toEqual({
      labels: ['success', 'episodes'],
      columns: [
        [1, 2, 3],
        [null, 0.25, 0.5],
        [4, 5, 9007199254740992],
      ],
      axis: 'number',
      numLeftOut: 0,
    });
  });

  it('has a line for each word where places repeat, and the mean of rows at one place', () => {
    const result = resultOf({ round: 'Int64', run: 'String', success: 'Float64' }, [
      [0, 'a', 1],
      [0, 'b', 0],
      [0, 'a', 0],
      [1, 'a', 'nan'],
      [1, 'b', 0.5],
    ]);
    expect(defaultPlot(result)).toEqual({ x: 0, ys: [2], by: 1 });
    expect(plotOfResult(result, { x: 0, ys: [2], by: 1 })).toMatchObject({
      labels: ['a', 'b'],
      columns: [
        [0, 1],
        [0.5, null],
        [0, 0.5],
      ],
    });
  });

  it('counts times in seconds from the first', () => {
    const result = resultOf({ at: "DateTime64(6, 'UTC')", n: 'UInt64' }, [
      ['2026-11-29 10:00:30.500000', 2],
      ['2026-11-29 10:00:00.000000', 1],
    ]);
    expect(plotOfResult(result, { x: 0, ys: [1], by: null })).toMatchObject({
      axis: 'time',
      columns: [
        [0, 30.5],
        [1, 2],
      ],
    });
  });

  it('leaves out lines beyond what one can tell apart, and says how many', () => {
    const rows = Array.from({ length: MAX_LINES + 3 }, (_, i) => [0, `run ${i}`, i]);
    const result = resultOf({ x: 'Int64', run: 'String', y: 'Int64' }, rows);
    const plot = plotOfResult(result, { x: 0, ys: [2], by: 1 });
    expect([plot.labels.length, plot.numLeftOut]).toEqual([MAX_LINES, 3]);
  });

  it('is not there without two columns of numbers', () => {
    expect(defaultPlot(resultOf({ action: 'String', n: 'UInt64' }, [['a', 1]]))).toBeNull();
  });

  it('finds the columns that a notebook names, wherever they are now, and none that are gone', () => {
    const types = { run: 'String', round: 'Int64', success: 'Float64', length: 'Float64' };
    const result = resultOf(types, []);
    const named = namesOfPlot(result, { x: 1, ys: [2, 3], by: 0 });
    expect(named).toEqual({ x: 'round', ys: ['success', 'length'], by: 'run' });
    expect(plotByNames(result, named)).toEqual({ x: 1, ys: [2, 3], by: 0 });
    const moved = resultOf({ length: 'Float64', success: 'Float64', round: 'Int64', run: 'String' }, []);
    expect(plotByNames(moved, named)).toEqual({ x: 2, ys: [1, 0], by: 3 });
    const { run: _, ...fewer } = types;
    expect(plotByNames(resultOf(fewer, []), named)).toBeNull();
    expect(plotByNames(resultOf({ ...types, length: 'String' }, []), named)).toBeNull();
    expect(plotByNames(result, null)).toBeNull();
  });
});
