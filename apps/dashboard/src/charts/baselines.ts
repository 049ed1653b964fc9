import type uPlot from 'uplot';
import type { RunBaseline } from '../api-types/schema';
import { formatPercent } from '../format/numbers';
import type { ChartColors } from './chart-colors';

/** Width of a chart from which labels fit beside the plot; in a narrower chart they are drawn on it, at the right. */
const MIN_WIDTH_FOR_LABELS = 640;
const LABEL_HEIGHT = 14;
const FONT_FAMILY = 'ui-sans-serif, system-ui, sans-serif';
export const AXIS_FONT = `11px ${FONT_FAMILY}`;

interface BaselineStyle {
  readonly colors: Pick<ChartColors, 'baseline' | 'surface'>;
  /** Labels are drawn beside the plot, not on it. */
  readonly labelsBeside: boolean;
}

/** Decides where labels go in a chart of `width` pixels. */
export function labelsFitBeside(baselines: readonly RunBaseline[], width: number): boolean {
  return baselines.length > 0 && width >= MIN_WIDTH_FOR_LABELS;
}

/** Width in pixels that labels beside the plot take. */
export function baselineLabelWidth(baselines: readonly RunBaseline[]): number {
  return widestText(baselines.map(formatLabel)) + 14;
}

/** Width in pixels of the widest of `texts` in the font of the axes. */
export function widestText(texts: readonly string[]): number {
  const context = document.createElement('canvas').getContext('2d');
  if (!context) return 0;
  context.font = AXIS_FONT;
  return Math.ceil(Math.max(0, ...texts.map((text) => context.measureText(text).width)));
}

/** Draws each baseline as a dashed line with its name and success rate. */
export function drawBaselines(
  plot: uPlot,
  baselines: readonly RunBaseline[],
  { colors, labelsBeside }: BaselineStyle,
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
  ctx.lineJoin = 'round';
  ctx.fillStyle = colors.baseline;
  ctx.strokeStyle = colors.baseline;
  ctx.setLineDash([5 * scale, 5 * scale]);
  ctx.globalAlpha = 0.65;
  const ascending = [...baselines].sort((a, b) => a.success - b.success);
  const lines = ascending.map(({ success }) => plot.valToPos(success, 'y', true));
  for (const y of lines) {
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(right, y);
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
  ctx.setLineDash([]);
  ctx.lineWidth = 4 * scale;
  ctx.strokeStyle = colors.surface;
  const wanted = lines.map((y) => (labelsBeside ? y : y - 8 * scale));
  placeLabels(wanted, LABEL_HEIGHT * scale).forEach((y, i) => {
    // The outline keeps a label readable where it is over a line.
    ctx.strokeText(formatLabel(ascending[i]), labelX, y);
    ctx.fillText(formatLabel(ascending[i]), labelX, y);
  });
  ctx.restore();
}

/**
 * Moves labels so that none covers another or goes over the top of the canvas.
 *
 * @param wanted centers of the labels in canvas pixels, from the lowest label to the highest
 */
export function placeLabels(wanted: readonly number[], height: number): number[] {
  const placed = [...wanted];
  for (let i = 1; i < placed.length; i++) placed[i] = Math.min(placed[i], placed[i - 1] - height);
  let top = height / 2;
  for (let i = placed.length - 1; i >= 0; i--) {
    placed[i] = Math.max(placed[i], top);
    top = placed[i] + height;
  }
  return placed;
}

function formatLabel({ name, success }: RunBaseline): string {
  return `${name} ${formatPercent(success)}`;
}
