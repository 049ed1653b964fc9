import { useState, type ReactNode } from 'react';
import { seriesColorVariable } from './chart-colors';
import { lastValue, valueAtRow } from './chart-data';
import { formatValue } from './chart-options';
import { Explained } from '../components/tooltip';
import styles from './chart.module.css';
import { Plot, type PlotProps } from './plot';

interface ChartProps extends Omit<PlotProps, 'onCursor'> {
  readonly title: string;
  /** Says what the chart shows. */
  readonly note?: string;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
}

/** Lines or stacked areas over an x-axis. The legend shows the values under the cursor, otherwise the newest ones. */
export function Chart({ title, note, actions, ...plot }: ChartProps) {
  const { labels, columns, format, isStacked = false } = plot;
  const [cursorRow, setCursorRow] = useState<number | null>(null);
  const valueAt = (column: number): number | null =>
    cursorRow === null
      ? lastValue(selectYs(columns, column))
      : valueAtRow(selectYs(columns, column) ?? [], cursorRow);
  const legendValue = (i: number): number | null => {
    const value = valueAt(i);
    // Stacked columns are cumulative: a series adds the difference to the one below it.
    return isStacked && i > 0 && value !== null ? value - (valueAt(i - 1) ?? 0) : value;
  };

  return (
    <figure className={styles.chart} aria-label={title}>
      <figcaption className={styles.caption}>
        <h2>
          <Explained by={note}>{title}</Explained>
        </h2>
        {actions}
        <ul className={actions === undefined ? styles.legend : styles.legendBelow}>
          {labels.map((label, i) => (
            <li key={label}>
              <span className={styles.swatch} style={{ background: seriesColorVariable(i) }} />
              {label} <b>{formatValue(legendValue(i), format)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <Plot {...plot} onCursor={setCursorRow} />
    </figure>
  );
}

function selectYs(columns: PlotProps['columns'], series: number): readonly (number | null)[] | undefined {
  return columns[series + 1];
}
