import styles from './sparkline.module.css';

const WIDTH = 132;
const HEIGHT = 28;
const INSET = 2;

/** A small line chart of fractions in [0, 1]; a dash when there are none. */
export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  if (values.length === 0) return <span className={styles.none}>–</span>;
  const x = (i: number): number =>
    INSET + (values.length === 1 ? 1 : i / (values.length - 1)) * (WIDTH - 2 * INSET);
  const y = (value: number): number => HEIGHT - INSET - value * (HEIGHT - 2 * INSET);
  const line = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  const last = values.length - 1;
  return (
    <svg
      className={styles.sparkline}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      <polygon className={styles.area} points={`${x(0)},${HEIGHT} ${line} ${x(last)},${HEIGHT}`} />
      <polyline className={styles.line} points={line} />
      <circle className={styles.point} cx={x(last)} cy={y(values[last])} r="2" />
    </svg>
  );
}
