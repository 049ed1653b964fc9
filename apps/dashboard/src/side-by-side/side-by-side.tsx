import type { ReactNode } from 'react';
import type { EpisodeDetail, StepDetail } from '../api/schema';
import { OutcomeBadge } from '../components/badge';
import { Link } from '../components/link';
import table from '../components/table.module.css';
import { ChatMessages } from '../episodes/chat-messages';
import { formatVersions } from '../episodes/episode-facts';
import { GridBoard } from '../episodes/grid-board';
import { readChat } from '../episodes/read-chat';
import { readGrid } from '../episodes/read-grid';
import { shortId } from '../format/ids';
import { formatCount, formatNumber } from '../format/numbers';
import page from '../pages/page.module.css';
import { firstDifference, meanLogprob, newestAdvantage, rewardTotals } from './episode-differences';
import styles from './side-by-side.module.css';

interface Fact {
  readonly label: string;
  readonly title?: string;
  readonly value: (episode: EpisodeDetail) => ReactNode;
}

const FACTS: readonly Fact[] = [
  { label: 'Return', value: (episode) => formatNumber(episode.return) },
  {
    label: 'Advantage',
    title: 'Mean over its tokens in the newest update that trained on it',
    value: (episode) => formatNumber(newestAdvantage(episode)),
  },
  { label: 'Steps', value: ({ numSteps }) => formatCount(numSteps) },
  { label: 'Sampled tokens', value: ({ numActionTokens }) => formatCount(numActionTokens) },
  {
    label: 'Logprob',
    title: 'Mean of its sampled tokens, nats, in the steps below',
    value: ({ steps }) => formatNumber(meanLogprob(steps)),
  },
  { label: 'Policy version', value: formatVersions },
];

/** Episodes in columns: their figures, and what each saw and did, step by step. */
export function SideBySide({ episodes }: { readonly episodes: readonly EpisodeDetail[] }) {
  const components = [...new Set(episodes.flatMap(({ steps }) => [...rewardTotals(steps).keys()]))];
  const facts: readonly Fact[] = [
    ...FACTS.slice(0, 1),
    // A single one is the return.
    ...(components.length < 2 ? [] : components.map(totalOf)),
    ...FACTS.slice(1),
  ];
  const numRows = Math.max(0, ...episodes.map(({ steps }) => steps.length));
  const parting = firstDifference(episodes);
  return (
    <div className={table.frame} tabIndex={0} role="region" aria-label="Episodes side by side">
      <table className={`${table.table} ${styles.table}`}>
        <thead>
          <tr>
            <th scope="col">Episode</th>
            {episodes.map((episode) => (
              <th key={episode.episodeId} scope="col">
                <Link className={`${table.link} mono`} to={`../episodes/${episode.episodeId}`}>
                  {shortId(episode.episodeId)}
                </Link>{' '}
                <OutcomeBadge {...episode} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {facts.map(({ label, title, value }) => (
            <tr key={label}>
              <th scope="row" title={title}>
                {label}
              </th>
              {episodes.map((episode) => (
                <td key={episode.episodeId} className={styles.fact}>
                  {value(episode)}
                </td>
              ))}
            </tr>
          ))}
          {Array.from({ length: numRows }, (_, step) => (
            <tr key={step} className={step === parting ? styles.parting : undefined}>
              <th scope="row">
                Step {step}
                {step === parting && <p className={styles.note}>The first that differs</p>}
              </th>
              {episodes.map(({ episodeId, steps }, e) => (
                <td key={episodeId} className={styles.step}>
                  {step < steps.length && (
                    <Step step={steps[step]} first={e === 0 ? undefined : episodes[0].steps.at(step)} />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function totalOf(name: string): Fact {
  return {
    label: name,
    title: 'Sum of this reward over the steps below',
    value: ({ steps }) => formatNumber(rewardTotals(steps).get(name)),
  };
}

interface StepProps {
  readonly step: StepDetail;
  /** The same step of the first episode, of which what is the same is not said again. */
  readonly first: StepDetail | undefined;
}

function Step({ step, first }: StepProps) {
  const chat = readChat(step.messages);
  const grid = readGrid(step.anchor);
  const isSameView =
    first !== undefined && first.observation === step.observation && first.anchor === step.anchor;
  return (
    <>
      {chat !== null && <ChatMessages label={`Messages of step ${step.step}`} {...chat} />}
      {chat === null && isSameView && <p className={page.subtle}>The same observation</p>}
      {chat === null && !isSameView && grid !== null && (
        <GridBoard label={`Grid of step ${step.step}`} {...grid} />
      )}
      {chat === null && !isSameView && <pre className={styles.text}>{step.observation || '(empty)'}</pre>}
      {chat === null && <pre className={`${styles.text} ${styles.action}`}>{step.action || '(empty)'}</pre>}
      <p className={page.subtle}>Reward {formatNumber(step.reward)}</p>
    </>
  );
}
