import type { ReactNode } from 'react';
import { ApiProblem } from '../api/api-problem';
import controls from './controls.module.css';
import styles from './notice.module.css';

interface NoticeProps {
  /** Level of the heading: `h1` where the notice is the whole page. */
  readonly heading?: 'h1' | 'h2';
}

interface EmptyStateProps extends NoticeProps {
  readonly title: string;
  readonly children?: ReactNode;
}

/** Says that there is nothing to show, and why or what to do. */
export function EmptyState({ title, heading: Heading = 'h2', children }: EmptyStateProps) {
  return (
    <div className={styles.notice}>
      <Heading>{title}</Heading>
      {children && <p>{children}</p>}
    </div>
  );
}

interface ErrorStateProps extends NoticeProps {
  readonly error: Error;
  readonly onRetry?: () => void;
}

/** Says what failed; `onRetry` adds a button to try again. */
export function ErrorState({ error, heading: Heading = 'h2', onRetry }: ErrorStateProps) {
  const title = error instanceof ApiProblem ? error.title : 'Unexpected error';
  return (
    <div className={styles.notice} data-tone="bad" role="alert">
      <Heading>{title}</Heading>
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
