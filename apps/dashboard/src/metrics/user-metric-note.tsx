import controls from '../components/controls.module.css';
import styles from './user-metrics.module.css';
import type { ShownUserMetric } from './use-user-metrics';

interface UserMetricNoteProps extends ShownUserMetric {
  readonly onAllow: () => void;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

/** Below the chart of a metric by SQL: the mistake in it, and its buttons. A query that came with a link waits for a button. */
export function UserMetricNote({
  metric: { name, query },
  isAllowed,
  problem,
  onAllow,
  onEdit,
  onRemove,
}: UserMetricNoteProps) {
  return (
    <div className={styles.note}>
      {!isAllowed && (
        <>
          <p>This query came with the link. It reads what you may read; look at it before you run it.</p>
          <pre className={styles.query} tabIndex={0} role="group" aria-label={`Query of ${name}`}>
            {query}
          </pre>
        </>
      )}
      {problem !== null && (
        <p className={styles.problem} role="alert">
          {problem.message}{' '}
          {problem.retry !== null && (
            <button type="button" className={controls.plain} onClick={() => void problem.retry?.()}>
              Retry
            </button>
          )}
        </p>
      )}
      <p>
        {!isAllowed && (
          <button type="button" className={controls.button} onClick={onAllow}>
            Run {name}
          </button>
        )}
        <button type="button" className={controls.plain} aria-label={`Edit SQL of ${name}`} onClick={onEdit}>
          Edit SQL
        </button>
        <button type="button" className={controls.plain} aria-label={`Remove ${name}`} onClick={onRemove}>
          Remove
        </button>
      </p>
    </div>
  );
}
