import type { ReactNode } from 'react';
import type { EpisodeDetail } from '../api-types/schema';
import { OutcomeBadge } from '../components/badge';
import { IdLink } from '../components/id-link';
import table from '../components/table.module.css';
import { Explained } from '../components/tooltip';
import { formatVersions } from '../episodes/episode-facts';
import { formatCount, formatNumber } from '../format/numbers';
import { BriefStep } from './brief-step';
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
    ...(components.length < 2 ? [] : components.map(makeTotal)),
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
                <IdLink id={episode.episodeId} to={`../episodes/${episode.episodeId}`} />{' '}
                <OutcomeBadge {...episode} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {facts.map(({ label, title, value }) => (
            <tr key={label}>
              <th scope="row">
                <Explained by={title}>{label}</Explained>
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
                    <BriefStep step={steps[step]} first={e === 0 ? undefined : episodes[0].steps.at(step)} />
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

function makeTotal(name: string): Fact {
  return {
    label: name,
    title: 'Sum of this reward over the steps below',
    value: ({ steps }) => formatNumber(rewardTotals(steps).get(name)),
  };
}
