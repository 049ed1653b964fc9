import { useState } from 'react';
import { useWarnings } from '../api/queries';
import type { RunWarning } from '../api-types/schema';
import { Badge } from '../components/badge';
import controls from '../components/controls.module.css';
import { Link } from '../components/link';
import { formatMoment } from '../format/times';
import { useRefetchMs } from '../live/use-live-run';
import { openedRun } from '../as-of/saved-run';
import styles from './run-warnings.module.css';

const FEW = 3;
const MANY = 100;

/** The newest warnings and alarms of a run; nothing while it has none. */
export function RunWarnings({ runId }: { readonly runId: string }) {
  const [limit, setLimit] = useState(FEW);
  const warnings = useWarnings(runId, { limit, refetchMs: useRefetchMs() });
  const { items = [], nextCursor = null } = warnings.data ?? {};
  if (items.length === 0) return null;
  return (
    <section className={styles.warnings} aria-label="Warnings">
      <h2>Warnings</h2>
      <ul>
        {items.map((warning, i) => (
          <li key={`${warning.raisedAt} ${i}`}>
            <Badge tone={warning.severity === 'alarm' ? 'bad' : 'warn'}>{warning.severity}</Badge>
            <span>
              {describeWarning(warning)}
              {warning.advice !== '' && <em>{warning.advice}</em>}
              {warning.episodeIds.map((episodeId, n) => (
                <Link key={episodeId} to={`/runs/${runId}/episodes/${episodeId}`}>
                  episode {n + 1}
                </Link>
              ))}
            </span>
            <time dateTime={warning.raisedAt}>{formatMoment(warning.raisedAt)}</time>
          </li>
        ))}
      </ul>
      {nextCursor !== null && limit === FEW && (
        <button type="button" className={controls.button} onClick={() => setLimit(MANY)}>
          Show earlier warnings
        </button>
      )}
      {nextCursor !== null && limit === MANY && (
        <p>
          These are the newest {MANY}
          {openedRun() === null ? '; the view “warnings” on the SQL page has all.' : '.'}
        </p>
      )}
    </section>
  );
}

/** As the terminal writes it: who, where, what, and how often so far. */
export function describeWarning({ source, step, message, numTimes }: RunWarning): string {
  const where = step === null ? '' : `${source === 'trainer' ? 'update' : 'round'} ${step}: `;
  return `${source}: ${where}${message}${numTimes > 1 ? ` (${numTimes} times so far)` : ''}`;
}
