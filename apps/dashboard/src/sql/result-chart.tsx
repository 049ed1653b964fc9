import { useMemo } from 'react';
import type { NotebookPlotBody, SqlResult } from '../api-types/schema';
import { Chart } from '../charts/chart';
import controls from '../components/controls.module.css';
import { EmptyState } from '../components/notice';
import { Select } from '../components/select';
import page from '../components/page.module.css';
import {
  axisColumns,
  defaultPlot,
  namesOfPlot,
  numericColumns,
  plotByNames,
  plotOfResult,
  wordColumns,
  type PlotChoice,
} from './plot-of-result';

const HEIGHT = 340;

interface ResultChartProps {
  readonly result: SqlResult;
  /** Columns that were chosen; null, or others than the result has: the first that make a chart. */
  readonly plot: NotebookPlotBody | null;
  readonly onPlot: (plot: NotebookPlotBody) => void;
}

/** Lines over a column of a result. */
export function ResultChart({ result, plot, onPlot }: ResultChartProps) {
  const choice = useMemo(() => plotByNames(result, plot) ?? defaultPlot(result), [result, plot]);
  if (choice === null) {
    return (
      <EmptyState title="No chart">
        A chart needs a column of numbers or times for its axis, and another one of numbers.
      </EmptyState>
    );
  }
  const change = (changes: Partial<PlotChoice>): void => {
    onPlot(namesOfPlot(result, { ...choice, ...changes }));
  };
  return (
    <div className={page.card}>
      <PlotControls result={result} choice={choice} onChange={change} />
      <PlottedResult result={result} choice={choice} />
    </div>
  );
}

function PlottedResult({ result, choice }: { readonly result: SqlResult; readonly choice: PlotChoice }) {
  const { labels, columns, axis, numLeftOut } = useMemo(() => plotOfResult(result, choice), [result, choice]);
  const nameOf = (column: number): string => result.columns[column].name;
  return (
    <>
      <Chart
        title={`${choice.ys.map(nameOf).join(', ')} by ${nameOf(choice.x)}`}
        labels={labels}
        columns={columns}
        axis={axis}
        format="number"
        height={HEIGHT}
      />
      {numLeftOut > 0 && (
        <p className={page.subtle}>
          {numLeftOut} more {numLeftOut === 1 ? 'line is' : 'lines are'} left out.
        </p>
      )}
    </>
  );
}

interface PlotControlsProps {
  readonly result: SqlResult;
  readonly choice: PlotChoice;
  readonly onChange: (changes: Partial<PlotChoice>) => void;
}

function PlotControls({ result, choice: { x, ys, by }, onChange }: PlotControlsProps) {
  const optionOf = (column: number) => ({ value: `${column}`, label: result.columns[column].name });
  const drawn = new Set(ys);
  return (
    <div className={page.filters}>
      <Select
        label="Axis"
        value={`${x}`}
        options={axisColumns(result).map(optionOf)}
        onChange={(value) => {
          onChange({ x: Number(value) });
        }}
      />
      <Select
        label="A line for each"
        value={by === null ? '' : `${by}`}
        options={[{ value: '', label: 'none' }, ...wordColumns(result).map(optionOf)]}
        onChange={(value) => {
          onChange({ by: value === '' ? null : Number(value) });
        }}
      />
      {numericColumns(result)
        .filter((column) => column !== x)
        .map((column) => (
          <label key={column} className={controls.field}>
            <input
              type="checkbox"
              checked={drawn.has(column)}
              disabled={drawn.has(column) && drawn.size === 1}
              onChange={({ target }) => {
                const others = ys.filter((y) => y !== column);
                onChange({ ys: target.checked ? [...others, column].sort((a, b) => a - b) : others });
              }}
            />
            {result.columns[column].name}
          </label>
        ))}
    </div>
  );
}
