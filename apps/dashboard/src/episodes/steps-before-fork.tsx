import { useEpisode } from '../api/episode-queries';
import type { EpisodeDetail } from '../api-types/schema';
import controls from '../components/controls.module.css';
import { IdLink } from '../components/id-link';
import { ErrorState, Loading } from '../components/notice';
import page from '../components/page.module.css';
import styles from './episode.module.css';
import { BY_LOGPROB } from '../tokens/token-colors';
import { StepCard } from './step-card';

interface StepsBeforeForkProps {
  readonly origin: NonNullable<EpisodeDetail['forkedFrom']>;
}

/** The steps that a fork shares with its parent, which come before its own in the conversation. */
export function StepsBeforeFork({ origin }: StepsBeforeForkProps) {
  const { runId, episodeId, step } = origin;
  const parent = useEpisode(runId, episodeId);
  const shared = parent.data?.steps.filter((one) => one.step < step) ?? [];
  return (
    <details className={page.card}>
      <summary className={styles.summary}>
        Steps before the fork: {step} of <IdLink id={episodeId} to={`/runs/${runId}/episodes/${episodeId}`} />
      </summary>
      {parent.isPending && <Loading label="Loading the parent" rows={3} />}
      {parent.isError && <ErrorState error={parent.error} onRetry={() => void parent.refetch()} />}
      <ol className={styles.steps}>
        {shared.map((one) => (
          <StepCard key={one.step} step={one} colors={BY_LOGPROB} />
        ))}
      </ol>
      {shared.length < step && parent.hasNextPage && (
        <button type="button" className={controls.button} onClick={() => void parent.fetchNextPage()}>
          Load more steps ({shared.length} of {step} shown)
        </button>
      )}
    </details>
  );
}
