import { Link, useParams } from 'react-router';
import { useEpisode } from '../api/queries';
import type { EpisodeDetail, StepDetail } from '../api/types';
import { Badge, OutcomeBadge } from '../components/badge';
import controls from '../components/controls.module.css';
import { JsonTree } from '../components/json-tree';
import { ErrorState, Loading } from '../components/notice';
import { Stat, StatRow } from '../components/stat';
import table from '../components/table.module.css';
import { shortId } from '../format/ids';
import { formatCount, formatNumber } from '../format/numbers';
import { formatDuration, formatMoment } from '../format/times';
import { TokenStrip } from '../tokens/token-strip';
import styles from './episode-page.module.css';
import { formatVersions } from './episodes-page';
import page from './page.module.css';
import { useRunOfPage } from './run-layout';

export function EpisodePage() {
  const { runId } = useRunOfPage();
  const { episodeId = '' } = useParams();
  const episode = useEpisode(runId, episodeId);

  if (episode.isPending) return <Loading label="Loading the episode" rows={9} />;
  if (!episode.data) return <ErrorState error={episode.error} onRetry={() => void episode.refetch()} />;
  const summary = episode.data.pages[0];
  const steps = episode.data.pages.flatMap((one) => one.steps);
  return (
    <div className={page.stack}>
      <EpisodeHead episode={summary} />
      <ol className={styles.steps}>
        {steps.map((step) => (
          <Step key={step.step} step={step} />
        ))}
      </ol>
      {episode.hasNextPage && (
        <button
          type="button"
          className={controls.button}
          disabled={episode.isFetchingNextPage}
          onClick={() => void episode.fetchNextPage()}
        >
          Further steps, from step{' '}
          {summary.numSteps === null ? steps.length : `${steps.length} of ${summary.numSteps}`}
        </button>
      )}
      {summary.finalObservation !== null && !episode.hasNextPage && (
        <section className={styles.step} aria-label="Final observation">
          <header className={styles.stepHead}>
            <h2>Final observation</h2>
            <Badge>{summary.endReason}</Badge>
          </header>
          <pre className={styles.text}>{summary.finalObservation || '(empty)'}</pre>
        </section>
      )}
    </div>
  );
}

function stepsQuery(episodeId: string): string {
  return `SELECT *\nFROM steps\nWHERE episode_id = '${episodeId}'\nORDER BY step`;
}

function EpisodeHead({ episode }: { readonly episode: EpisodeDetail }) {
  return (
    <>
      <div className={page.head} style={{ marginBottom: 0 }}>
        <Link className={table.link} to="../episodes">
          ← Episodes
        </Link>
        <span className="mono" title={episode.episodeId}>
          {shortId(episode.episodeId)}
        </span>
        <OutcomeBadge {...episode} />
        <Badge>{episode.split}</Badge>
        <Badge>{episode.agent}</Badge>
        <span className={page.subtle}>
          Group{' '}
          <Link
            className={`${table.link} mono`}
            to={`../episodes?groupId=${episode.groupId}`}
            title={episode.groupId}
          >
            {shortId(episode.groupId)}
          </Link>
          , member {episode.groupMember}
        </span>
        {episode.updateNumbers.length > 0 && (
          <span className={page.subtle}>
            Trained on in{' '}
            {episode.updateNumbers.map((update) => (
              <Link key={update} className={table.link} to={`../episodes?update=${update}`}>
                update {update}{' '}
              </Link>
            ))}
          </span>
        )}
        <Link className={table.link} to={`/sql?query=${encodeURIComponent(stepsQuery(episode.episodeId))}`}>
          in SQL
        </Link>
      </div>
      <StatRow>
        <Stat label="Return">{formatNumber(episode.return)}</Stat>
        <Stat label="Steps">{formatCount(episode.numSteps)}</Stat>
        <Stat label="Tokens" title="All, and those that the policy sampled">
          {formatCount(episode.numTokens)} <small>{formatCount(episode.numActionTokens)} sampled</small>
        </Stat>
        <Stat label="Policy version">{formatVersions(episode)}</Stat>
        <Stat label="Environment seed">{episode.environmentSeed}</Stat>
        <Stat label="Started" title={formatMoment(episode.startedAt)}>
          <small>{formatMoment(episode.startedAt)}</small>
        </Stat>
        <Stat label="Took">
          {formatDuration(
            episode.endedAt ? Date.parse(episode.endedAt) - Date.parse(episode.startedAt) : null,
          )}
        </Stat>
      </StatRow>
      <details className={page.card}>
        <summary className={styles.summary}>Task</summary>
        <JsonTree value={episode.task} />
      </details>
    </>
  );
}

function Step({ step }: { readonly step: StepDetail }) {
  return (
    <li className={styles.step}>
      <header className={styles.stepHead}>
        <h2>Step {step.step}</h2>
        {!step.actionValid && <Badge tone="bad">invalid action</Badge>}
        {step.terminated && <Badge>terminated</Badge>}
        {step.truncated && <Badge tone="warn">truncated</Badge>}
        <span className={styles.grow} />
        <StepFacts step={step} />
      </header>
      <div className={styles.exchange}>
        <section>
          <h3>Observation</h3>
          <pre className={styles.text}>{step.observation || '(empty)'}</pre>
          <h3>Tokens</h3>
          <TokenStrip tokens={step.tokens} label={`Tokens of step ${step.step}`} />
        </section>
        <section>
          <h3>Action</h3>
          <pre className={`${styles.text} ${styles.action}`}>{step.action || '(empty)'}</pre>
          <Action step={step} />
          <h3>Reward</h3>
          <p className={styles.reward} data-sign={Math.sign(step.reward ?? 0)}>
            {step.reward === null ? 'missing' : formatNumber(step.reward)}
          </p>
          {step.rewards.length > 1 && (
            <ul className={styles.components}>
              {step.rewards.map(({ name, value }) => (
                <li key={name}>
                  {name} <b>{formatNumber(value)}</b>
                </li>
              ))}
            </ul>
          )}
        </section>
      </div>
      {hasContent(step.info) && (
        <details>
          <summary className={styles.summary}>Info</summary>
          <JsonTree value={step.info} />
        </details>
      )}
    </li>
  );
}

/** What the environment understood, where that isn't the action's own text. */
function Action({ step }: { readonly step: StepDetail }) {
  if (step.parsedAction === null) return <p className={page.subtle}>not understood by the environment</p>;
  if (step.parsedAction === step.action.trim()) return null;
  return (
    <p className={page.subtle}>
      understood as <code>{step.parsedAction}</code>
    </p>
  );
}

function StepFacts({ step }: { readonly step: StepDetail }) {
  const versions = [...new Set(step.tokens.policyVersions.filter((version) => version >= 0))];
  const facts: readonly [string, string][] = [
    ['policy', versions.length > 0 ? versions.join(', ') : '–'],
    ['anchor', step.anchor ?? '–'],
    ['temperature', step.greedy ? 'greedy' : formatNumber(step.temperature)],
    ['kept prefix', formatCount(step.keptPrefixTokens)],
    ['generation', formatDuration(step.generationMs)],
    ['environment', formatDuration(step.environmentMs)],
  ];
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd title={value}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function hasContent(info: StepDetail['info']): boolean {
  return info !== null && (typeof info !== 'object' || Object.keys(info).length > 0);
}
