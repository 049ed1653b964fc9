import type { EpisodeDetail } from '../api-types/schema';
import { Badge, OutcomeBadge } from '../components/badge';
import { JsonTree } from '../components/json-tree';
import { Link } from '../components/link';
import { Stat, StatRow } from '../components/stat';
import table from '../components/table.module.css';
import { Explained } from '../components/tooltip';
import { shortId } from '../format/ids';
import { formatCost, formatCount, formatNumber } from '../format/numbers';
import { formatDuration, formatMoment } from '../format/times';
import page from '../components/page.module.css';
import { openedRun } from '../as-of/saved-run';
import { episodeDurationMs, formatVersions } from './episode-facts';
import { EpisodeScores } from './episode-scores';
import { EpisodeUses } from './episode-uses';
import { GroupLinks } from './group-links';
import styles from './episode.module.css';

interface EpisodeHeaderProps {
  readonly runId: string;
  readonly episode: EpisodeDetail;
}

/** Identity, key figures and task of an episode. */
export function EpisodeHeader({ runId, episode }: EpisodeHeaderProps) {
  return (
    <>
      <EpisodeLinks runId={runId} episode={episode} />
      <StatRow>
        <Stat label="Return">{formatNumber(episode.return)}</Stat>
        <Stat label="Steps">{formatCount(episode.numSteps)}</Stat>
        <Stat label="Tokens" note="All tokens, and those that the policy sampled">
          {formatCount(episode.numTokens)} <small>{formatCount(episode.numActionTokens)} sampled</small>
        </Stat>
        {episode.policyVersionMin !== null && <Stat label="Policy version">{formatVersions(episode)}</Stat>}
        {episode.environmentSeed !== null && <Stat label="Environment seed">{episode.environmentSeed}</Stat>}
        {episode.costUsd !== null && <Stat label="Cost">{formatCost(episode.costUsd)}</Stat>}
        <Stat label="Started" note={formatMoment(episode.startedAt)}>
          <small>{formatMoment(episode.startedAt)}</small>
        </Stat>
        <Stat label="Duration">{formatDuration(episodeDurationMs(episode))}</Stat>
      </StatRow>
      <details className={page.card}>
        <summary className={styles.summary}>Task</summary>
        <JsonTree value={episode.task} />
      </details>
      {episode.metadata !== null && (
        <details className={page.card}>
          <summary className={styles.summary}>Metadata</summary>
          <JsonTree value={episode.metadata} />
        </details>
      )}
      <EpisodeScores runId={runId} episode={episode} />
    </>
  );
}

function EpisodeLinks({ runId, episode }: EpisodeHeaderProps) {
  return (
    <div className={styles.links}>
      <Link className={table.link} to="../episodes">
        ← Episodes
      </Link>
      <span className="mono" title={episode.episodeId}>
        {shortId(episode.episodeId)}
      </span>
      <OutcomeBadge {...episode} />
      {episode.numPoorerSteps > 0 && (
        <Badge tone="warn">
          <Explained by="A part of them could not be stored; each step says which">
            {formatCount(episode.numPoorerSteps)} {episode.numPoorerSteps === 1 ? 'step' : 'steps'} stored
            poorer
          </Explained>
        </Badge>
      )}
      {episode.endDetail !== '' && (
        <Badge>
          <Explained by="Why it ended">{episode.endDetail}</Explained>
        </Badge>
      )}
      <Badge>{episode.split}</Badge>
      <Badge>{episode.agent}</Badge>
      {episode.externalId !== '' && (
        <Badge>
          <Explained by="Id that its caller gave it">{episode.externalId}</Explained>
        </Badge>
      )}
      {episode.tags.map((tag) => (
        <Link key={tag} to={`../episodes?tag=${encodeURIComponent(tag)}`}>
          <Badge tone="accent">{tag}</Badge>
        </Link>
      ))}
      {episode.parentEpisodeId !== null && (
        <Link className={table.link} to={`../episodes/${episode.parentEpisodeId}`}>
          Called by {shortId(episode.parentEpisodeId)}
        </Link>
      )}
      {episode.forkedFrom !== null && <OriginLink origin={episode.forkedFrom} />}
      <GroupLinks runId={runId} episode={episode} />
      <EpisodeUses runId={runId} episode={episode} />
      {openedRun() === null && (
        <>
          <Link className={table.link} to={`../side-by-side?episode=${episode.episodeId}`}>
            Compare
          </Link>
          <Link className={table.link} to={`/sql?query=${encodeURIComponent(stepsQuery(episode.episodeId))}`}>
            Open in SQL
          </Link>
        </>
      )}
    </div>
  );
}

function OriginLink({ origin }: { readonly origin: NonNullable<EpisodeDetail['forkedFrom']> }) {
  const { runId, episodeId, step } = origin;
  return (
    <Link className={table.link} to={`/runs/${runId}/episodes/${episodeId}`}>
      Forked from step {step} of {shortId(episodeId)}
    </Link>
  );
}

function stepsQuery(episodeId: string): string {
  return `SELECT *\nFROM steps\nWHERE episode_id = '${episodeId}'\nORDER BY step`;
}
