import { useCapturedCalls } from '../api/agent-queries';
import { OutcomeBadge } from '../components/badge';
import { Link } from '../components/link';
import { useNow } from '../components/use-now';
import { shortId } from '../format/ids';
import { formatAgo } from '../format/times';
import page from '../components/page.module.css';
import styles from './now-yours.module.css';

/** The newest calls that agents made, each with a link to its episode. */
export function CapturedCalls({ runName }: { readonly runName: string }) {
  const { data: calls = [] } = useCapturedCalls(runName);
  const nowMs = useNow(1_000);
  if (calls.length === 0)
    return (
      <p className={page.subtle} role="status">
        Waiting for the first call: it appears here at once.
      </p>
    );
  return (
    <ul className={styles.calls} aria-label="Captured calls">
      {calls.map(({ runId, episodeId, startedAt, ...outcome }) => (
        <li key={episodeId}>
          <Link className="mono" to={`/runs/${runId}/episodes/${episodeId}`}>
            {shortId(episodeId)}
          </Link>
          <OutcomeBadge {...outcome} />
          <span className={page.subtle}>{formatAgo(startedAt, nowMs)}</span>
        </li>
      ))}
    </ul>
  );
}
