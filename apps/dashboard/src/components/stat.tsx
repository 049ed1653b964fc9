import type { ReactNode } from 'react';
import styles from './stat.module.css';
import { Explained } from './tooltip';

/** A row of key figures, each a `Stat`. */
export function StatRow({ children }: { readonly children: ReactNode }) {
  return <dl className={styles.row}>{children}</dl>;
}

interface StatProps {
  readonly label: string;
  readonly children: ReactNode;
  /** Says what the figure is. */
  readonly note?: string;
}

export function Stat({ label, children, note }: StatProps) {
  return (
    <div className={styles.stat}>
      <dt>
        <Explained by={note}>{label}</Explained>
      </dt>
      <dd>{children}</dd>
    </div>
  );
}
