import { useMemo } from 'react';
import type { RewardAuditReport } from '../api-types/schema';
import { Chart } from '../charts/chart';
import type { ChartColumns } from '../charts/chart-data';
import styles from './stretch-charts.module.css';

const NOTE = 'Over stretches of equally many episodes, by time, counted from 1';

/** The success, and each value of a reward, over the history of the run. */
export function StretchCharts({ audit }: { readonly audit: RewardAuditReport }) {
  const charts = useMemo(() => makeCharts(audit), [audit]);
  if (audit.stretches.length < 2) return null;
  return (
    <div className={styles.grid}>
      {charts.map((chart) => (
        <Chart {...chart} note={NOTE} axis="update" />
      ))}
    </div>
  );
}

function makeCharts({ stretches, values }: RewardAuditReport) {
  const xs = stretches.map((_, stretch) => stretch + 1);
  const columns = (ys: readonly (number | null)[]): ChartColumns => [xs, [...ys]];
  const success = {
    ...{ key: 'success', title: 'Success', labels: ['success'], format: 'fraction' as const },
    columns: columns(stretches.map((stretch) => stretch.success)),
    range: [0, 1] as const,
  };
  const isKnown = stretches.some((stretch) => stretch.success !== null);
  return [
    ...(isKnown ? [success] : []),
    ...values.map(({ kind, name, byStretch }) => ({
      ...{ key: `${kind} ${name}`, title: kind === 'total' ? 'Total' : name },
      ...{ labels: ['mean'], format: 'number' as const, columns: columns(byStretch) },
    })),
  ];
}
