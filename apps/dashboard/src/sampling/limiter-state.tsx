import { useLastSamplingBlock } from '../api/queries';
import { Badge } from '../components/badge';
import { formatMoment } from '../format/times';
import { useRefetchMs } from '../live/use-live-run';
import styles from '../warnings/run-warnings.module.css';

/** The last time that the limiter of samples and inserts made a side wait, and why; nothing in runs that it never did. */
export function LimiterState({ runId }: { readonly runId: string }) {
  const { data: block } = useLastSamplingBlock(runId, useRefetchMs());
  if (!block) return null;
  return (
    <section className={styles.warnings} aria-label="Samples and inserts">
      <h2>Samples and inserts</h2>
      <ul>
        <li>
          <Badge tone="accent">{block.side} waited</Badge>
          <span>{block.reason}</span>
          <time dateTime={block.blockedAt}>{formatMoment(block.blockedAt)}</time>
        </li>
      </ul>
    </section>
  );
}
