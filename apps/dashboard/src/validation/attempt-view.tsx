import type { EpisodeDetail, ValidationAttempt } from '../api-types/schema';
import { OutcomeBadge } from '../components/badge';
import { Link } from '../components/link';
import { formatCount, formatNumber } from '../format/numbers';
import page from '../components/page.module.css';
import { BriefStep } from '../side-by-side/brief-step';
import styles from './first-and-newest.module.css';

interface AttemptViewProps {
  /** "First policy", "Newest policy". */
  readonly title: string;
  readonly attempt: ValidationAttempt;
  readonly episode: EpisodeDetail;
  /** From 0; after its last turn the episode shows that one. */
  readonly turn: number;
}

/** An episode at one of its turns, with how it ended. */
export function AttemptView({ title, attempt, episode, turn }: AttemptViewProps) {
  const { steps } = episode;
  const step = steps.at(Math.min(turn, steps.length - 1));
  return (
    <div className={styles.attempt}>
      <header className={styles.attemptHead}>
        <h3>
          {title} <span className={page.subtle}>version {formatCount(attempt.policyVersion)}</span>
        </h3>
        <OutcomeBadge {...episode} />
        <span className={page.subtle}>
          Return <b>{formatNumber(attempt.return)}</b> in {formatCount(attempt.numSteps)}{' '}
          {attempt.numSteps === 1 ? 'turn' : 'turns'}
        </span>
        <Link className={styles.more} to={`episodes/${attempt.episodeId}`}>
          Episode
        </Link>
      </header>
      {step === undefined ? (
        <p className={page.subtle}>No turns are stored.</p>
      ) : (
        <>
          <p className={page.subtle}>
            Turn {formatCount(step.step + 1)}
            {turn >= steps.length && (steps.length < attempt.numSteps ? ', the last shown' : ', its last')}
          </p>
          <BriefStep step={step} />
        </>
      )}
    </div>
  );
}
