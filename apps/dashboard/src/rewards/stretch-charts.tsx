import type { RewardAuditReport } from '../api/schema';
import { Chart } from '../charts/chart';
import styles from './stretch-charts.module.css';

const NOTE = 'Over stretches of equally many episodes, by time; counted from 1';

/** The success, and each value of a reward, over the history of the run. */
export function StretchCharts({ audit: { stretches, values } }: { readonly audit: RewardAuditReport }) {
  if (stretches.length < 2) return null;
  const xs = stretches.map((_, stretch) => stretch + 1);
  return (
    <div className={styles.grid}>
      <Chart
        title="Success"
        note={NOTE}
        labels={['success']}
        columns={[xs, stretches.map(({ success }) => success)]}
        axis="update"
        format="fraction"
        range={[0, 1]}
      />
      {values.map(({ kind, name, byStretch }) => (
        <Chart
          key={`${kind} ${name}`}
          title={kind === 'total' ? 'Total' : name}
          note={NOTE}
          labels={['mean']}
          columns={[xs, [...byStretch]]}
          axis="update"
          format="number"
        />
      ))}
    </div>
  );
}
