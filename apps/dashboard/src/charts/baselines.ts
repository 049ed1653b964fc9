import type uPlot from 'uplot';
import type { RunBaseline } from '../api/schema';
import { formatPercent } from '../format/numbers';
import type { ChartColors } from './chart-colors';

/** Width of a chart from which labels fit beside the plot; in a narrower chart they are drawn on it, at the right. */
const MIN_WIDTH_FOR_LABELS = 640;
const LABEL_HEIGHT = 14;
const FONT_FAMILY = 'ui-sans-serif, system-ui, sans-serif';
export const AXIS_FONT = `11px ${FONT_FAMILY}`;

interface BaselineStyle {
  readonly color: ChartColors['baseline'];
  /** Labels are drawn beside the plot, not on it. */
  readonly labelsBeside: boolean;
}

/** Decides where labels go in a chart of `width` pixels. */
export function labelsFitBeside(baselines: readonly RunBaseline[], width: number): boolean {
  return baselines.length > 0 && width >= MIN_WIDTH_FOR_LABELS;
}

/** Width in pixels that labels beside the plot take. */
export function baselineLabelWidth(baselines: readonly RunBaseline[]): number {
  const context = document.createElement('canvas').getContext('2d');
  if (!context) return 8;
  context.font = AXIS_FONT;
  return Math.ceil(Math.max(...baselines.map((one) => context.measureText(labelOf(one)).width))) + 14;
}

/** Draws each baseline as a dashed line with its name and success rate. */
export function drawBaselines(
  plot: uPlot,
  baselines: readonly RunBaseline[],
  { color, labelsBeside }: BaselineStyle,
): void {
  const { ctx, bbox } = plot;
  const scale = window.devicePixelRatio;
  const right = bbox.left + bbox.width;
  const labelX = labelsBeside ? right + 8 * scale : right - 6 * scale;
  ctx.save();
  ctx.font = `${11 * scale}px ${FONT_FAMILY}`;
  ctx.textAlign = labelsBeside ? 'left' : 'right';
  ctx.textBaseline = 'middle';
  ctx.lineWidth = scale;
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.setLineDash([5 * scale, 5 * scale]);
  let lowestFreeY = Number.POSITIVE_INFINITY;
  for (const baseline of [...baselines].sort((a, b) => a.success - b.success)) {
    const y = plot.valToPos(baseline.success, 'y', true);
    ctx.globalAlpha = 0.65;
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(right, y);
    ctx.stroke();

    // A label moves up when it would cover the one below it.
    const labelY = Math.min(labelsBeside ? y : y - 8 * scale, lowestFreeY);
    lowestFreeY = labelY - LABEL_HEIGHT * scale;
    ctx.globalAlpha = 1;
    ctx.fillText(labelOf(baseline), labelX, labelY);
  }
  ctx.restore();
}

function labelOf({ name, success }: RunBaseline): string {
  return `${name} ${formatPercent(success)}`;
}
