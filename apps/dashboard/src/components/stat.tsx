import type { ReactNode } from 'react';
import styles from './stat.module.css';

/** A row of key figures, each a `Stat`. */
export function StatRow({ children }: { readonly children: ReactNode }) {
  return <dl className={styles.row}>{children}</dl>;
}

export function Stat({
  label,
  children,
  title,
}: {
  readonly label: string;
  readonly children: ReactNode;
  readonly title?: string;
}) {
  return (
    <div className={styles.stat} title={title}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
