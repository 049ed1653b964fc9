import type { NotebookPlotBody, SqlResult } from '../api-types/schema';
import type { ChartColumns } from '../charts/chart-data';
import type { PlotAxis } from '../charts/chart-options';
import { fieldText } from '../format/csv';
import { isNumericType, isTimeType } from './column-types';

/** Which columns of a result a chart shows, by their places. */
export interface PlotChoice {
  readonly x: number;
  readonly ys: readonly number[];
  /** Rows with the same value of this column are one line; null: all rows are. */
  readonly by: number | null;
}

export interface ResultPlot {
  readonly labels: readonly string[];
  readonly columns: ChartColumns;
  readonly axis: PlotAxis;
  /** Lines that are left out, since a chart shows so many. */
  readonly numLeftOut: number;
}

export const MAX_LINES = 12;

/** Places of the columns whose values are numbers. */
export function numericColumns({ columns }: SqlResult): readonly number[] {
  return columns.flatMap(({ type }, c) => (isNumericType(type) ? [c] : []));
}

/** Places of the columns that an x-axis can have: numbers and times. */
export function axisColumns({ columns }: SqlResult): readonly number[] {
  return columns.flatMap(({ type }, c) => (isNumericType(type) || isTimeType(type) ? [c] : []));
}

/** Places of the columns by which rows can be told apart. */
export function wordColumns(result: SqlResult): readonly number[] {
  const places = new Set(axisColumns(result));
  return result.columns.flatMap((_, c) => (places.has(c) ? [] : [c]));
}

/**
 * The choice that most results want: the first column that can be an axis, the first other one with numbers, and lines by the first column of words where
 * places on the axis repeat. null where a chart can't be drawn.
 */
export function defaultPlot(result: SqlResult): PlotChoice | null {
  const [x] = axisColumns(result);
  const y = numericColumns(result).find((column) => column !== x);
  if (x === undefined || y === undefined) return null;
  const repeats = new Set(result.rows.map((row) => row[x])).size < result.rows.length;
  return { x, ys: [y], by: repeats ? (wordColumns(result)[0] ?? null) : null };
}

/** The choice by its columns' names, as a notebook keeps it; null where the result has another form. */
export function plotByNames(result: SqlResult, named: NotebookPlotBody | null): PlotChoice | null {
  if (named === null) return null;
  const placeOf = (name: string, places: readonly number[]) =>
    places.find((place) => result.columns[place].name === name);
  const x = placeOf(named.x, axisColumns(result));
  const ys = named.ys.flatMap((name) => placeOf(name, numericColumns(result)) ?? []);
  const by = named.by === null ? null : placeOf(named.by, wordColumns(result));
  if (x === undefined || by === undefined || ys.length === 0 || ys.length < named.ys.length) return null;
  return { x, ys, by };
}

/** The names of the columns of a choice. */
export function namesOfPlot({ columns }: SqlResult, { x, ys, by }: PlotChoice): NotebookPlotBody {
  const nameOf = (column: number) => columns[column].name;
  return { x: nameOf(x), ys: ys.map(nameOf), by: by === null ? null : nameOf(by) };
}

/** Lines over one ascending x-axis. Rows at the same place of the same line count as their mean; a time counts in seconds from the first. */
export function plotOfResult(result: SqlResult, { x, ys, by }: PlotChoice): ResultPlot {
  const isTime = isTimeType(result.columns[x].type);
  const placed = result.rows.flatMap((row) => {
    const place = isTime ? toSeconds(row[x]) : toNumber(row[x]);
    return place === null ? [] : [{ row, place }];
  });
  const start = isTime ? placed.reduce((least, { place }) => Math.min(least, place), Infinity) : 0;
  const lines = new Map<string, Map<number, { sum: number; count: number }>>();
  for (const { row, place } of placed) {
    for (const y of ys) {
      const value = toNumber(row[y]);
      if (value === null) continue;
      const line = makeLabel(result, { ys, by }, row, y);
      const points = lines.get(line) ?? new Map<number, { sum: number; count: number }>();
      lines.set(line, points);
      const point = points.get(place - start) ?? { sum: 0, count: 0 };
      points.set(place - start, { sum: point.sum + value, count: point.count + 1 });
    }
  }
  const shown = [...lines].slice(0, MAX_LINES);
  const xs = [...new Set(shown.flatMap(([, points]) => [...points.keys()]))].sort((a, b) => a - b);
  const meanAt = (points: ReadonlyMap<number, { sum: number; count: number }>, place: number) => {
    const point = points.get(place);
    return point === undefined ? null : point.sum / point.count;
  };
  return {
    labels: shown.map(([label]) => label),
    columns: [xs, ...shown.map(([, points]) => xs.map((place) => meanAt(points, place)))],
    axis: isTime ? 'time' : 'number',
    numLeftOut: lines.size - shown.length,
  };
}

function makeLabel(
  { columns }: SqlResult,
  { ys, by }: Pick<PlotChoice, 'ys' | 'by'>,
  row: readonly unknown[],
  y: number,
): string {
  if (by === null) return columns[y].name;
  const line = row[by] === null ? 'null' : fieldText(row[by]) || '(empty)';
  return ys.length === 1 ? line : `${line} · ${columns[y].name}`;
}

/** Integers beyond 2⁵³ are text; what is not finite has no place in a chart. */
export function toNumber(value: unknown): number | null {
  const number =
    typeof value === 'string' && value !== ''
      ? Number(value)
      : typeof value === 'boolean'
        ? Number(value)
        : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** Seconds of a date or time of the store, which is in UTC. */
export function toSeconds(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const ms = Date.parse(value.includes(' ') ? `${value.replace(' ', 'T')}Z` : value);
  return Number.isNaN(ms) ? null : ms / 1000;
}
