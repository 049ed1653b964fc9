import { useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { RunBaseline } from '../api-types/schema';
import { useTheme } from '../theme/use-theme';
import { readChartColors, type ChartColors } from './chart-colors';
import { lastValue, type ChartColumns } from './chart-data';
import { chartOptions, type ChartOptionsInput, type PlotAxis, type ValueFormat } from './chart-options';
import styles from './chart.module.css';

const DEFAULT_HEIGHT = 170;

export interface PlotProps {
  /** One for each series. */
  readonly labels: readonly string[];
  readonly columns: ChartColumns;
  readonly axis: PlotAxis;
  readonly format: ValueFormat;
  /** Range of the y-axis; without it, the range of the data. */
  readonly range?: readonly [number, number];
  /** Draws areas; the columns are cumulative. */
  readonly isStacked?: boolean;
  /** Whether the y-axis is logarithmic; all values must be above 0. */
  readonly isLog?: boolean;
  /** Whether two more columns for each series, the ends of a band around it, follow those of all series. */
  readonly hasBands?: boolean;
  readonly baselines?: readonly RunBaseline[];
  /** Pixels. */
  readonly height?: number;
  readonly onCursor: (row: number | null) => void;
  /** Called with the place on the x-axis where the plot was clicked. */
  readonly onPick?: (x: number) => void;
}

/** The canvas of a chart. New data is set on the plot that exists; a change of anything else makes a new plot. */
export function Plot(props: PlotProps) {
  const { columns, isStacked = false, isLog = false, hasBands = false, height = DEFAULT_HEIGHT } = props;
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = useMemo(() => (isStacked ? widestFirst(columns) : columns), [columns, isStacked]);
  const newest = useRef(data);
  const theme = useTheme().shown;
  const { axis, format, onCursor, onPick } = props;
  const picked = useRef(onPick);
  const isPickable = onPick !== undefined;
  // Compared by value, because the arrays are new objects in every render.
  const shape = JSON.stringify(toShape(props));

  useEffect(() => {
    picked.current = onPick;
  }, [onPick]);

  useEffect(() => {
    newest.current = data;
    plot.current?.setData(data as uPlot.AlignedData);
  }, [data]);

  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const { labels, range, baselines } = JSON.parse(shape) as Shape;
    const options = chartOptions({
      ...inDrawingOrder(labels, readChartColors(element), isStacked),
      ...{ axis, format, range, isStacked, isLog, hasBands, baselines },
      ...{ width: element.clientWidth, height, onCursor },
      ...(isPickable && { onPick: (x: number) => picked.current?.(x) }),
    });
    const created = new uPlot(options, newest.current as uPlot.AlignedData, element);
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
  }, [axis, format, height, onCursor, isPickable, shape, isStacked, isLog, hasBands, theme]);

  return (
    <div className={styles.frame} style={{ height }} ref={frame}>
      {isEmpty(columns) && <p className={styles.empty}>No values yet</p>}
    </div>
  );
}

type Shape = Pick<ChartOptionsInput, 'labels' | 'range' | 'baselines'>;

function toShape({ labels, range, baselines }: PlotProps): Shape {
  return { labels, range: range ?? null, baselines: baselines ?? [] };
}

/** Labels and colors in the order of drawing. */
function inDrawingOrder(labels: readonly string[], colors: ChartColors, isStacked: boolean) {
  if (!isStacked) return { labels, colors };
  const areas = colors.areas.slice(0, labels.length).reverse();
  return { labels: labels.toReversed(), colors: { ...colors, series: areas } };
}

/** Cumulative columns in the order of drawing: the widest area first, so that the narrower ones stay visible in front of it. */
function widestFirst([xs, ...columns]: ChartColumns): ChartColumns {
  return [xs, ...columns.toReversed()];
}

function isEmpty([, ...columns]: ChartColumns): boolean {
  return columns.every((column) => lastValue(column) === null);
}
