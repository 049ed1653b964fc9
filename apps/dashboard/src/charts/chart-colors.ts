/** Colours of the theme as a canvas takes them: the values of the custom properties, computed. */
export interface ChartColors {
  readonly series: readonly string[];
  readonly axis: string;
  readonly grid: string;
  readonly baseline: string;
  readonly surface: string;
}

export const NUM_SERIES_COLORS = 6;

/** CSS colour of the i-th series, for legends. */
export function seriesColorVariable(index: number): string {
  return `var(--series-${(index % NUM_SERIES_COLORS) + 1})`;
}

export function readChartColors(within: HTMLElement): ChartColors {
  const probe = document.createElement('span');
  within.append(probe);
  const computed = (variable: string): string => {
    probe.style.color = `var(${variable})`;
    return getComputedStyle(probe).color;
  };
  const colors = {
    series: Array.from({ length: NUM_SERIES_COLORS }, (_, i) => computed(`--series-${i + 1}`)),
    axis: computed('--text-faint'),
    grid: computed('--grid'),
    baseline: computed('--text-muted'),
    surface: computed('--surface'),
  };
  probe.remove();
  return colors;
}
