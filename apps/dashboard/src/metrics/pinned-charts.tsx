import { MetricChart, type MetricChartProps } from '../charts/metric-chart';
import controls from '../components/controls.module.css';
import styles from './metric-explorer.module.css';

interface PinnedChartsProps extends Omit<MetricChartProps, 'definition' | 'actions'> {
  /** Pinned in this browser; one that the run does not have is left out. */
  readonly names: readonly string[];
  readonly onUnpin: (name: string) => void;
}

/** Charts of metrics that a person pinned in the explorer. */
export function PinnedCharts({ names, onUnpin, ...chart }: PinnedChartsProps) {
  const found = names.filter((name) => chart.seriesByName.has(name));
  if (found.length === 0) return null;
  return (
    <section className={styles.grid} aria-label="Pinned charts">
      {found.map((name) => (
        <MetricChart
          key={name}
          {...chart}
          definition={{ title: name, note: 'Pinned', metrics: [{ name, label: '' }] }}
          actions={
            <button
              type="button"
              className={controls.plain}
              aria-label={`Unpin ${name}`}
              onClick={() => {
                onUnpin(name);
              }}
            >
              Unpin
            </button>
          }
        />
      ))}
    </section>
  );
}
