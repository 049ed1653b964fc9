import { Link } from '../components/link';
import table from '../components/table.module.css';
import { formatNumber } from '../format/numbers';
import styles from './update-metrics.module.css';

/** Every metric of an update; each leads to its course over the run. */
export function UpdateMetrics({ metrics }: { readonly metrics: Readonly<Record<string, number>> }) {
  const names = Object.keys(metrics).sort();
  if (names.length === 0) return null;
  return (
    <details>
      <summary className={styles.summary}>All {names.length} metrics</summary>
      <dl className={styles.metrics}>
        {names.map((name) => (
          <div key={name}>
            <dt>
              <Link className={table.link} to={`../metrics?q=${encodeURIComponent(name)}`}>
                {name}
              </Link>
            </dt>
            <dd>{formatNumber(metrics[name])}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
