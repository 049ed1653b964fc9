import { useForks } from '../api/related-runs';
import type { RunDetail } from '../api-types/schema';
import { StatusBadge } from '../components/badge';
import { Link } from '../components/link';
import { shortId } from '../format/ids';
import page from '../components/page.module.css';
import { readInitSource } from './init-source';
import styles from './run-lineage.module.css';

/** The policy that a run started from, and the runs that started from one of its own; nothing for a run without either. */
export function RunLineage({ run }: { readonly run: RunDetail }) {
  const { data: forks = [] } = useForks(run);
  const source = readInitSource(run.recipe);
  if (source === null && forks.length === 0) return null;
  return (
    <section className={`${page.card} ${styles.lineage}`} aria-label="Lineage">
      {source !== null && (
        <p>
          Started from policy {source.policyVersion} of run{' '}
          <Link to={`/runs/${source.runId}`}>{shortId(source.runId)}</Link>
        </p>
      )}
      {forks.length > 0 && (
        <>
          <p>Started from this run:</p>
          <ul>
            {forks.map(({ runId, name, status }) => (
              <li key={runId}>
                <Link to={`/runs/${runId}`}>
                  {name} {shortId(runId)}
                </Link>{' '}
                <StatusBadge status={status} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
