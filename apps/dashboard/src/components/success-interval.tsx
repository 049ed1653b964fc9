import { formatPercent } from '../format/numbers';
import styles from './success-interval.module.css';

interface SuccessIntervalProps {
  readonly low: number;
  readonly high: number;
  /** null = unknown. */
  readonly rate: number | null;
}

/** An interval of a success rate as a bar from 0 to 1, with its ends in words. */
export function SuccessInterval({ low, high, rate }: SuccessIntervalProps) {
  return (
    <span className={styles.interval}>
      <svg className={styles.bar} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect className={styles.track} x="0" y="4" width="100" height="2" />
        <rect className={styles.range} x={100 * low} y="2" width={100 * (high - low)} height="6" />
        {rate !== null && (
          <rect className={styles.mark} x={100 * rate - 0.75} y="0" width="1.5" height="10" />
        )}
      </svg>
      {formatPercent(low)} – {formatPercent(high)}
    </span>
  );
}
