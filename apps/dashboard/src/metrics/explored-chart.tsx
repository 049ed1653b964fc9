import { useMemo } from 'react';
import { Chart } from '../charts/chart';
import {
  alignSeries,
  nearestStep,
  positiveColumns,
  smoothColumns,
  type ChartColumns,
} from '../charts/chart-data';
import controls from '../components/controls.module.css';
import type { ExploredLine } from './explored-runs';
import type { ExplorerView } from './explorer-view';
import { savePicture, saveValues } from './save-chart';
import { meanColumns } from './seed-groups';

interface ExploredChartProps extends Pick<ExplorerView, 'axis' | 'smoothing' | 'isLog'> {
  readonly name: string;
  readonly lines: readonly ExploredLine[];
  readonly isPinned: boolean;
  /** Whether its pin was set or taken away just now. */
  readonly isMoved: boolean;
  readonly onPin: (name: string) => void;
  /** Pixels. */
  readonly height?: number;
  /** Called with the update of the first run whose point was clicked. */
  readonly onPickUpdate: (updateNumber: number) => void;
}

/** One metric of all runs; a mean of several has a band, from the least to the greatest. */
export function ExploredChart({
  name,
  lines,
  axis,
  smoothing,
  isLog,
  isPinned,
  isMoved,
  onPin,
  height,
  onPickUpdate,
}: ExploredChartProps) {
  const labels = lines.map(({ label }) => label);
  const runs = useMemo(() => lines.flatMap((line) => line.runs), [lines]);
  const hasBands = runs.length > lines.length;
  const recorded = useMemo(() => alignSeries(runs.map((run) => run.series.get(name))), [runs, name]);
  const [columns, hasLog] = useMemo(() => {
    const smoothed = smoothColumns(recorded, smoothing);
    const sizes = lines.map((line) => line.runs.length);
    const drawn = hasBands ? meanColumns(smoothed, sizes) : smoothed;
    const positive = positiveColumns(drawn, lines.length);
    return isLog && hasValues(positive) ? [positive, true] : [drawn, false];
  }, [recorded, lines, hasBands, smoothing, isLog]);
  const actions = (
    <ChartActions
      {...{ name, isPinned, isMoved, onPin }}
      onSaveValues={() => {
        saveValues(name, { labels: runs.map(({ label }) => label), axis, columns: recorded });
      }}
      onSavePicture={(figure) => {
        savePicture(name, labels, figure);
      }}
    />
  );
  return (
    <Chart
      title={name}
      labels={labels}
      columns={columns}
      axis={axis}
      format="number"
      isLog={hasLog}
      hasBands={hasBands}
      actions={actions}
      height={height}
      onPick={(x) => {
        const step = nearestStep([runs[0]?.series.get(name)], x);
        if (step !== null) onPickUpdate(step);
      }}
    />
  );
}

interface ChartActionsProps extends Pick<ExploredChartProps, 'name' | 'isPinned' | 'isMoved' | 'onPin'> {
  readonly onSaveValues: () => void;
  readonly onSavePicture: (figure: HTMLElement) => void;
}

function ChartActions({ name, isPinned, isMoved, onPin, onSaveValues, onSavePicture }: ChartActionsProps) {
  return (
    <span>
      <button
        type="button"
        className={controls.plain}
        autoFocus={isMoved}
        aria-label={`${isPinned ? 'Unpin' : 'Pin'} ${name}`}
        title={isPinned ? 'Take the pin away' : 'Put this chart first, and on the overview of runs'}
        onClick={() => {
          onPin(name);
        }}
      >
        {isPinned ? 'Unpin' : 'Pin'}
      </button>
      <button
        type="button"
        className={controls.plain}
        aria-label={`Save ${name} as CSV`}
        onClick={onSaveValues}
      >
        CSV
      </button>
      <button
        type="button"
        className={controls.plain}
        aria-label={`Save ${name} as PNG`}
        onClick={({ currentTarget }) => {
          const figure = currentTarget.closest('figure');
          if (figure) onSavePicture(figure);
        }}
      >
        PNG
      </button>
    </span>
  );
}

/** A metric without a value above 0 stays on an ordinary axis. */
function hasValues([, ...columns]: ChartColumns): boolean {
  return columns.some((column) => column.some((value) => value !== null));
}
