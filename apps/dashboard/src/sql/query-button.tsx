import type { ReactNode } from 'react';
import styles from './sql-sidebar.module.css';

interface QueryButtonProps {
  readonly query: string;
  /** A query runs, and the next one waits for it. */
  readonly isBusy: boolean;
  readonly onPick: (query: string) => void;
  readonly children: ReactNode;
}

/** Puts a query into the editor, and runs it. While another one runs it keeps the focus and does nothing. */
export function QueryButton({ query, isBusy, onPick, children }: QueryButtonProps) {
  return (
    <button
      type="button"
      className={styles.item}
      title={query}
      aria-disabled={isBusy}
      onClick={() => {
        onPick(query);
      }}
    >
      {children}
    </button>
  );
}
