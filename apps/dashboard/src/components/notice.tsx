import type { ReactNode } from 'react';
import { ApiProblem } from '../api/client';
import controls from './controls.module.css';
import styles from './notice.module.css';

/** Nothing here, and what to do about it. */
export function EmptyState({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className={styles.notice}>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
    </div>
  );
}

export function ErrorState({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }) {
  const title = error instanceof ApiProblem ? error.title : 'Something went wrong';
  return (
    <div className={styles.notice} data-tone="bad" role="alert">
      <h2>{title}</h2>
      <p>{error.message}</p>
      {onRetry && (
        <button type="button" className={controls.button} onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Grey bars where content will be. */
export function Loading({ label, rows = 6 }: { readonly label: string; readonly rows?: number }) {
  return (
    <div className={styles.loading} role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, i) => (
        <span key={i} />
      ))}
    </div>
  );
}
