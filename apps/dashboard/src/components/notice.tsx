import type { ReactNode } from 'react';
import { ApiProblem } from '../api/api-problem';
import controls from './controls.module.css';
import styles from './notice.module.css';

/** Says that there is nothing to show, and why or what to do. */
export function EmptyState({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className={styles.notice}>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
    </div>
  );
}

/** Says what failed; `onRetry` adds a button to try again. */
export function ErrorState({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }) {
  const title = error instanceof ApiProblem ? error.title : 'Unexpected error';
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

/** Gray bars in place of content that is loading. */
export function Loading({ label, rows = 6 }: { readonly label: string; readonly rows?: number }) {
  return (
    <div className={styles.loading} role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, i) => (
        <span key={i} />
      ))}
    </div>
  );
}
