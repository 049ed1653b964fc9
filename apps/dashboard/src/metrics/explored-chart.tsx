import { useMemo } from 'react';
import type { MetricSeries } from '../api/schema';
import { Chart } from '../charts/chart';
import {
  alignSeries,
  nearestStep,
  positiveColumns,
  smoothColumns,
  type ChartColumns,
} from '../charts/chart-data';
import controls from '../components/controls.module.css';
import type { ExplorerView } from './explorer-view';
import { savePicture, saveValues } from './save-chart';

/** A line of each chart. */
export interface ExploredRun {
  readonly label: string;
  /** By name, with times since the run started and steps in updates. */
  readonly series: ReadonlyMap<string, MetricSeries>;
}

interface ExploredChartProps extends Pick<ExplorerView, 'axis' | 'smoothing' | 'isLog'> {
  readonly name: string;
  readonly runs: readonly ExploredRun[];
  /** Called with the update of the first run whose point was clicked. */
  readonly onPickUpdate: (updateNumber: number) => void;
}

/** One metric of all runs. */
export function ExploredChart({ name, runs, axis, smoothing, isLog, onPickUpdate }: ExploredChartProps) {
  const labels = runs.map(({ label }) => label);
  const recorded = useMemo(() => {
    const series = runs.map((run) => run.series.get(name));
    return alignSeries(series, axis, 0);
  }, [runs, name, axis]);
  const [columns, hasLog] = useMemo(() => {
    const smoothed = smoothColumns(recorded, smoothing);
    const positive = positiveColumns(smoothed);
    return isLog && hasValues(positive) ? [positive, true] : [smoothed, false];
  }, [recorded, smoothing, isLog]);
  const actions = (
    <span>
      <button
        type="button"
        className={controls.plain}
        aria-label={`Save ${name} as CSV`}
        onClick={() => {
          saveValues(name, { labels, axis, columns: recorded });
        }}
      >
        CSV
      </button>
      <button
        type="button"
        className={controls.plain}
        aria-label={`Save ${name} as PNG`}
        onClick={({ currentTarget }) => {
          const figure = currentTarget.closest('figure');
          if (figure) savePicture(name, labels, figure);
        }}
      >
        PNG
      </button>
    </span>
  );
  return (
    <Chart
      title={name}
      labels={labels}
      columns={columns}
      axis={axis}
      format="number"
      isLog={hasLog}
      actions={actions}
      onPick={(x) => {
        const step = nearestStep([runs[0]?.series.get(name)], axis, 0, x);
        if (step !== null) onPickUpdate(step);
      }}
    />
  );
}

/** A metric without a value above 0 stays on an ordinary axis. */
function hasValues([, ...columns]: ChartColumns): boolean {
  return columns.some((column) => column.some((value) => value !== null));
}
