import uPlot from 'uplot';
import { formatCompact, formatNumber, formatPercent } from '../format/numbers';
import { formatDuration } from '../format/times';
import type { RunBaseline } from '../api-types/schema';
import { AXIS_FONT, baselineLabelWidth, drawBaselines, labelsFitBeside, widestText } from './baselines';
import type { ChartColors } from './chart-colors';
import type { ChartAxis } from './chart-axis';

/** Unit of the x-axis of a plot: that of a chart of metrics, or any numbers. */
export type PlotAxis = ChartAxis | 'number';

/** Notation of a chart's values. */
export type ValueFormat = 'number' | 'fraction' | 'compact';

export interface ChartOptionsInput {
  readonly labels: readonly string[];
  readonly axis: PlotAxis;
  readonly format: ValueFormat;
  /** Fixed range of the y-axis; null = the range of the data. */
  readonly range: readonly [number, number] | null;
  /** Draws filled areas; the last series is in front. */
  readonly isStacked: boolean;
  /** Whether the y-axis is logarithmic; all values must be above 0. */
  readonly isLog: boolean;
  /** Whether two more columns for each series, the lower and the upper end of a band around it, follow those of all series. */
  readonly hasBands: boolean;
  readonly baselines: readonly RunBaseline[];
  readonly colors: ChartColors;
  readonly width: number;
  readonly height: number;
  /** Called with the row under the cursor; null when the cursor leaves the plot. */
  readonly onCursor: (row: number | null) => void;
  /** Called with the place on the x-axis where the plot was clicked. */
  readonly onPick?: (x: number) => void;
}

/** All charts with this key share one cursor. */
const CURSOR_GROUP = 'run';
/** Distances between ticks on an axis of updates, and of counts. */
const ROUND_NUMBERS = Array.from({ length: 13 }, (_, i) => [1, 2, 5].map((digit) => digit * 10 ** i)).flat();
/** Distances between ticks on an axis of time, in seconds: up to a year. */
const ROUND_SECONDS = [
  ...[1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200],
  ...[1, 7, 30, 90, 365].map((days) => days * 86_400),
];
const MAX_VALUES_WITH_POINTS = 24;
/** Pixels right of the plot: half of the widest label of the x-axis (`12h 30m`), which is centered on its tick. */
const LABEL_OVERHANG = 22;
/** Least width in pixels of the y-axis, so that most plots of a page begin at the same place. */
const Y_AXIS_WIDTH = 52;
const LABEL_GAP = 4;
/** How far the pointer may move in a click. */
const MOST_CLICK_PIXELS = 3;
/** Spread of values, relative to their magnitude, below which a float32 tells them hardly apart. */
const FLAT_SPREAD = 1e-6;

/** Formats a value of a legend. */
export function formatValue(value: number | null | undefined, format: ValueFormat): string {
  if (format === 'fraction') return formatPercent(value);
  return format === 'compact' ? formatCompact(value) : formatNumber(value);
}

/** Options of uPlot for one chart. */
export function chartOptions(input: ChartOptionsInput): uPlot.Options {
  const { colors, axis, baselines, width, onCursor, onPick } = input;
  const labelsBeside = labelsFitBeside(baselines, width);
  return {
    width,
    height: input.height,
    padding: [10, Math.max(LABEL_OVERHANG, labelsBeside ? baselineLabelWidth(baselines) : 0), 0, 0],
    legend: { show: false },
    cursor: {
      ...{ sync: { key: CURSOR_GROUP }, y: false, focus: { prox: -1 } },
      points: { size: (_, series) => (series > input.labels.length ? 0 : 6) },
    },
    scales: { x: { time: false }, y: yScale(input) },
    axes: [
      axisStyle(colors, {
        size: 28,
        gap: 8,
        incrs: listIncrements(axis),
        values: (_, ticks) => ticks.map((tick) => (axis === 'time' ? formatTick(tick) : formatCompact(tick))),
      }),
      axisStyle(colors, {
        size: (_, labels) => Math.max(Y_AXIS_WIDTH, widestText(labels ?? []) + 2 * LABEL_GAP),
        incrs: input.format === 'compact' ? ROUND_NUMBERS : undefined,
        values: (_, ticks, _axis, _space, increment) =>
          ticks.map((tick) =>
            input.isLog ? formatPower(tick) : formatAxisValue(tick, input.format, increment),
          ),
      }),
    ],
    series: [
      {},
      ...input.labels.map((label, i) =>
        seriesStyle(label, colors.series[i % colors.series.length], {
          isStacked: input.isStacked,
          isDashed: i >= colors.series.length,
        }),
      ),
      ...(input.hasBands ? input.labels.flatMap(() => [BAND_END, BAND_END]) : []),
    ],
    bands: input.hasBands ? listBands(input) : [],
    hooks: {
      setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)],
      ready: [(plot) => onPick && listenForClicks(plot, onPick)],
      draw: [(plot) => drawBaselines(plot, baselines, { colors, labelsBeside })],
    },
  };
}

function listIncrements(axis: PlotAxis): number[] | undefined {
  if (axis === 'number') return undefined;
  return axis === 'time' ? ROUND_SECONDS : ROUND_NUMBERS;
}

const BAND_END: uPlot.Series = { width: 0, points: { show: false }, spanGaps: true };

function listBands({ labels, colors }: ChartOptionsInput): uPlot.Band[] {
  return labels.map((_, i) => {
    const low = labels.length + 1 + 2 * i;
    return { series: [low + 1, low], fill: colors.bands[i % colors.bands.length] };
  });
}

/** A drag, which zooms, ends with a click too. */
function listenForClicks(plot: uPlot, onPick: (x: number) => void): void {
  let pressedAt = 0;
  plot.over.style.cursor = 'pointer';
  plot.over.addEventListener('mousedown', ({ clientX }) => {
    pressedAt = clientX;
  });
  plot.over.addEventListener('click', ({ clientX }) => {
    const row = plot.cursor.idx;
    if (row === null || row === undefined || Math.abs(clientX - pressedAt) > MOST_CLICK_PIXELS) return;
    onPick(plot.data[0][row]);
  });
}

function yScale({ range, isLog }: ChartOptionsInput): uPlot.Scale {
  if (isLog) return { distr: 3 };
  return { range: range ? [range[0], range[1]] : padRange };
}

interface SeriesOptions {
  readonly isStacked: boolean;
  /** Tells series apart whose colors repeat. */
  readonly isDashed: boolean;
}

function seriesStyle(label: string, color: string, { isStacked, isDashed }: SeriesOptions): uPlot.Series {
  return {
    label,
    stroke: color,
    dash: isDashed ? [6, 4] : undefined,
    width: isStacked ? 1 : 1.75,
    fill: isStacked ? color : undefined,
    spanGaps: true,
    // Points make single and few values visible.
    points: {
      show: (plot, series) => !isStacked && numValues(plot, series) <= MAX_VALUES_WITH_POINTS,
      size: 5,
      fill: color,
    },
  };
}

function numValues(plot: uPlot, series: number): number {
  const column = plot.data[series] as readonly (number | null | undefined)[];
  return column.filter((value) => value !== null && value !== undefined).length;
}

function axisStyle(colors: ChartColors, axis: uPlot.Axis): uPlot.Axis {
  return {
    stroke: colors.axis,
    font: AXIS_FONT,
    gap: LABEL_GAP,
    grid: { stroke: colors.grid, width: 1 },
    ticks: { show: false },
    ...axis,
  };
}

/** Formats a tick of the y-axis with as many digits as tell it from the next one, `increment` away. */
export function formatAxisValue(value: number, format: ValueFormat, increment: number): string {
  const digits = Math.max(3, Math.ceil(Math.log10(Math.abs(value) / increment)) + 2);
  if (format === 'fraction') return `${formatNumber(value * 100, digits)}%`;
  return Math.abs(value) >= 1e3 ? formatCompact(value, digits) : formatNumber(value, digits);
}

/** Formats a tick of a logarithmic axis: only powers of ten have a label. */
export function formatPower(tick: number): string {
  return Number.isInteger(Math.round(Math.log10(tick) * 1e9) / 1e9) ? formatNumber(tick) : '';
}

function formatTick(seconds: number): string {
  return seconds === 0 ? '0' : formatDuration(seconds * 1000).replace(/ 0[sm]$/, '');
}

/** Leaves a margin of 8% above and below the data; a flat line gets 10% of its value. */
export function padRange(_plot: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
  if (min === null || max === null) return [0, 1];
  const spread = max - min;
  const magnitude = Math.max(Math.abs(min), Math.abs(max));
  if (magnitude === 0) return [0, 1];
  const pad = spread > magnitude * FLAT_SPREAD ? spread * 0.08 : magnitude * 0.1;
  return [min >= 0 && min - pad < 0 ? 0 : min - pad, max + pad];
}
