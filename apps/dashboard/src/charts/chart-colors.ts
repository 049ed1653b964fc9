/** Colors of the theme in the form that a canvas accepts: computed values of the CSS custom properties. */
export interface ChartColors {
  readonly series: readonly string[];
  /** The colors of the series, softened for large areas. */
  readonly areas: readonly string[];
  /** The same, so thin that lines and other bands show through. */
  readonly bands: readonly string[];
  readonly axis: string;
  readonly grid: string;
  readonly baseline: string;
  readonly surface: string;
}

const NUM_SERIES_COLORS = 6;

/** CSS color of the series at `index`; repeats after six series. */
export function seriesColorVariable(index: number): string {
  return `var(--series-${(index % NUM_SERIES_COLORS) + 1})`;
}

/** Reads the colors that apply within an element. */
export function readChartColors(within: HTMLElement): ChartColors {
  const probe = document.createElement('span');
  // Where people ask for less motion every element has a transition of an instant, during which a new color is not there yet.
  probe.style.transitionProperty = 'none';
  within.append(probe);
  const computed = (color: string): string => {
    probe.style.color = color;
    return getComputedStyle(probe).color;
  };
  const series = Array.from({ length: NUM_SERIES_COLORS }, (_, i) => seriesColorVariable(i));
  const colors = {
    series: series.map(computed),
    areas: series.map((color) => computed(`color-mix(in srgb, ${color} 62%, var(--surface))`)),
    bands: series.map((color) => computed(`color-mix(in srgb, ${color} 18%, transparent)`)),
    axis: computed('var(--text-faint)'),
    grid: computed('var(--grid)'),
    baseline: computed('var(--text-muted)'),
    surface: computed('var(--surface)'),
  };
  probe.remove();
  return colors;
}
