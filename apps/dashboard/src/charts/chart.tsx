import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Baseline } from '../api/types';
import { useTheme } from '../theme/use-theme';
import { readChartColors, seriesColorVariable } from './chart-colors';
import { lastValue, type ChartAxis, type ChartColumns } from './chart-data';
import { chartOptions, formatValue, type ValueFormat } from './chart-options';
import styles from './chart.module.css';

const NO_BASELINES: readonly Baseline[] = [];

export interface ChartProps {
  readonly title: string;
  readonly labels: readonly string[];
  readonly columns: ChartColumns;
  readonly axis: ChartAxis;
  readonly format: ValueFormat;
  readonly range?: readonly [number, number] | null;
  readonly stacked?: boolean;
  readonly baselines?: readonly Baseline[];
  readonly height?: number;
  readonly note?: string;
}

/** Lines over updates or time; the legend shows the values under the cursor, else the newest. */
export function Chart(props: ChartProps) {
  const { title, labels, columns, format, note, stacked = false } = props;
  const [cursorRow, setCursorRow] = useState<number | null>(null);
  const isEmpty = columns.slice(1).every((column) => lastValue(column as (number | null)[]) === null);
  const shown = (i: number): number | null => {
    const at = (column: number): number | null =>
      cursorRow === null
        ? lastValue(columns[column] as (number | null)[])
        : (columns[column][cursorRow] ?? null);
    const value = at(i + 1);
    // Stacked columns are cumulative: what one series adds is the difference to the one below.
    return stacked && i > 0 && value !== null ? value - (at(i) ?? 0) : value;
  };

  return (
    <figure className={styles.chart} aria-label={title}>
      <figcaption className={styles.caption}>
        <h2 title={note}>{title}</h2>
        <ul className={styles.legend}>
          {labels.map((label, i) => (
            <li key={label}>
              <span className={styles.swatch} style={{ background: seriesColorVariable(i) }} />
              {label} <b>{formatValue(shown(i), format)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <Plot {...props} isEmpty={isEmpty} onCursor={setCursorRow} />
    </figure>
  );
}

interface PlotProps extends ChartProps {
  readonly isEmpty: boolean;
  readonly onCursor: (row: number | null) => void;
}

function Plot({
  labels,
  columns,
  axis,
  format,
  range = null,
  stacked = false,
  baselines = NO_BASELINES,
  height = 170,
  isEmpty,
  onCursor,
}: PlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const drawn = useMemo(() => (stacked ? backToFront(columns) : columns), [columns, stacked]);
  const latest = useRef(drawn);
  const theme = useTheme().shown;
  const shape = JSON.stringify([labels, range, baselines]);

  useEffect(() => {
    latest.current = drawn;
    plot.current?.setData(drawn as uPlot.AlignedData);
  }, [drawn]);

  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const [shapeLabels, shapeRange, shapeBaselines] = JSON.parse(shape) as [
      string[],
      [number, number] | null,
      Baseline[],
    ];
    const colors = readChartColors(element);
    const options = chartOptions({
      labels: stacked ? shapeLabels.toReversed() : shapeLabels,
      axis,
      format,
      range: shapeRange,
      stacked,
      baselines: shapeBaselines,
      colors: stacked ? { ...colors, series: colors.areas.slice(0, shapeLabels.length).reverse() } : colors,
      width: element.clientWidth,
      height,
      onCursor,
    });
    const created = new uPlot(options, latest.current as uPlot.AlignedData, element);
    plot.current = created;
    const resizing = new ResizeObserver(() => {
      created.setSize({ width: element.clientWidth, height });
    });
    resizing.observe(element);
    return () => {
      resizing.disconnect();
      created.destroy();
      plot.current = null;
    };
  }, [axis, format, height, onCursor, shape, stacked, theme]);

  return (
    <div className={styles.frame} style={{ height }} ref={frame}>
      {isEmpty && <p className={styles.empty}>No values yet</p>}
    </div>
  );
}

/** The widest area is drawn first, so that the narrower ones stay visible in front of it. */
function backToFront([xs, ...columns]: ChartColumns): ChartColumns {
  return [xs, ...columns.toReversed()];
}
