import uPlot from 'uplot';
import { formatCompact, formatNumber, formatPercent } from '../format/numbers';
import { formatDuration } from '../format/times';
import type { Baseline } from '../api/types';
import type { ChartColors } from './chart-colors';
import type { ChartAxis } from './chart-data';

/** How values of a chart are written. */
export type ValueFormat = 'number' | 'fraction' | 'compact';

export interface ChartOptionsInput {
  readonly labels: readonly string[];
  readonly axis: ChartAxis;
  readonly format: ValueFormat;
  /** Fixed range of values; otherwise that of the data. */
  readonly range: readonly [number, number] | null;
  /** Draws filled areas, the last series at the back. */
  readonly stacked: boolean;
  readonly baselines: readonly Baseline[];
  readonly colors: ChartColors;
  readonly width: number;
  readonly height: number;
  readonly onCursor: (row: number | null) => void;
}

/** Charts of one page share their cursor. */
const CURSOR_GROUP = 'run';
/** Distances between ticks: half an update does not exist, and times go by minutes and hours. */
const WHOLE_UPDATES = Array.from({ length: 9 }, (_, i) => [1, 2, 5].map((digit) => digit * 10 ** i)).flat();
const ROUND_SECONDS = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 604_800];
const AXIS_FONT = '11px ui-sans-serif, system-ui, sans-serif';

export function formatValue(value: number | null | undefined, format: ValueFormat): string {
  if (format === 'fraction') return formatPercent(value);
  return format === 'compact' ? formatCompact(value) : formatNumber(value);
}

export function chartOptions(input: ChartOptionsInput): uPlot.Options {
  const { colors, axis, range, onCursor } = input;
  return {
    width: input.width,
    height: input.height,
    padding: [10, labelsBeside(input) ? baselineLabelWidth(input.baselines) : 8, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: CURSOR_GROUP }, points: { size: 6 }, y: false, focus: { prox: -1 } },
    scales: { x: { time: false }, y: { range: range ? [range[0], range[1]] : padRange } },
    axes: [
      axisStyle(colors, {
        size: 26,
        incrs: axis === 'time' ? ROUND_SECONDS : WHOLE_UPDATES,
        values: (_, ticks) => ticks.map((tick) => (axis === 'time' ? formatTick(tick) : formatCompact(tick))),
      }),
      axisStyle(colors, {
        size: 52,
        values: (_, ticks) => ticks.map((tick) => formatAxisValue(tick, input.format)),
      }),
    ],
    series: [
      {},
      ...input.labels.map((label, i) =>
        seriesStyle(label, colors.series[i % colors.series.length], input.stacked),
      ),
    ],
    hooks: {
      setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)],
      draw: [(plot) => drawBaselines(plot, input, labelsBeside(input))],
    },
  };
}

function seriesStyle(label: string, color: string, stacked: boolean): uPlot.Series {
  return {
    label,
    stroke: color,
    width: stacked ? 1 : 1.75,
    fill: stacked ? color : undefined,
    spanGaps: true,
    // Points are drawn only where a line would not show: few values.
    points: { show: (plot, series) => !stacked && numValues(plot, series) <= 24, size: 5, fill: color },
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
    gap: 4,
    grid: { stroke: colors.grid, width: 1 },
    ticks: { show: false },
    ...axis,
  };
}

function formatAxisValue(value: number, format: ValueFormat): string {
  if (format === 'fraction') return `${Number((value * 100).toPrecision(3))} %`;
  return Math.abs(value) >= 1e3 ? formatCompact(value) : formatNumber(value);
}

function formatTick(seconds: number): string {
  return seconds === 0 ? '0' : formatDuration(seconds * 1000).replace(/ 0[sm]$/, '');
}

/** Some air above and below; a flat line gets a range of its own size. */
function padRange(_plot: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
  if (min === null || max === null) return [0, 1];
  const spread = max - min;
  if (spread === 0 && max === 0) return [0, 1];
  const pad = spread > 0 ? spread * 0.08 : Math.abs(max) * 0.1;
  return [min >= 0 && min - pad < 0 ? 0 : min - pad, max + pad];
}

/** Labels stand beside the plot where there is room, else on it at the right. */
function labelsBeside({ baselines, width }: ChartOptionsInput): boolean {
  return baselines.length > 0 && width >= 640;
}

function baselineLabel({ name, success }: Baseline): string {
  return `${name} ${formatPercent(success)}`;
}

function baselineLabelWidth(baselines: readonly Baseline[]): number {
  const context = document.createElement('canvas').getContext('2d');
  if (!context) return 8;
  context.font = AXIS_FONT;
  return Math.ceil(Math.max(...baselines.map((one) => context.measureText(baselineLabel(one)).width))) + 14;
}

function drawBaselines(
  plot: uPlot,
  { baselines, colors }: ChartOptionsInput,
  areLabelsBeside: boolean,
): void {
  const { ctx, bbox } = plot;
  const scale = window.devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * scale}px ui-sans-serif, system-ui, sans-serif`;
  ctx.lineWidth = scale;
  const right = bbox.left + bbox.width;
  let lowestFreeY = Number.POSITIVE_INFINITY;
  for (const baseline of [...baselines].sort((a, b) => a.success - b.success)) {
    const y = plot.valToPos(baseline.success, 'y', true);
    ctx.strokeStyle = colors.baseline;
    ctx.globalAlpha = 0.65;
    ctx.setLineDash([5 * scale, 5 * scale]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(right, y);
    ctx.stroke();

    // A label that would cover the one below moves up.
    const labelY = Math.min(areLabelsBeside ? y + 4 * scale : y - 5 * scale, lowestFreeY);
    lowestFreeY = labelY - 14 * scale;
    ctx.globalAlpha = 1;
    ctx.fillStyle = colors.baseline;
    ctx.textAlign = areLabelsBeside ? 'left' : 'right';
    ctx.fillText(baselineLabel(baseline), areLabelsBeside ? right + 8 * scale : right - 6 * scale, labelY);
  }
  ctx.restore();
}
