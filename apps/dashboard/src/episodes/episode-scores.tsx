import { type FormEvent, useState } from 'react';
import { useShownMoment } from '../as-of/shown-moment';
import { useScoreEpisode } from '../api/episode-queries';
import type { EpisodeDetail } from '../api-types/schema';
import controls from '../components/controls.module.css';
import { Field } from '../components/field';
import { ThumbIcon } from '../components/thumb-icon';
import { formatNumber } from '../format/numbers';
import { formatMoment } from '../format/times';
import page from '../components/page.module.css';
import styles from './episode-scores.module.css';

const NAME_KEY = 'retrace.scorer';
/** The reward that a thumb gives. */
const THUMB = 'thumb';
const SCORE = 'score';

interface EpisodeScoresProps {
  readonly runId: string;
  readonly episode: EpisodeDetail;
}

/** Scores of an episode by anybody, and a form to give one's own. A score is a reward: SQL, reward versions and data sets read it. */
export function EpisodeScores({ runId, episode }: EpisodeScoresProps) {
  const isOfNow = useShownMoment() === null;
  if (!isOfNow && episode.scores.length === 0) return null;
  return (
    <section className={page.card} aria-label="Scores">
      <h2 className={styles.head}>Scores</h2>
      {episode.scores.length > 0 && (
        <ul className={styles.scores}>
          {episode.scores.map(({ step, name, value, source, rationale, assignedAt }) => (
            <li key={`${step} ${name} ${source}`}>
              <b>{name === THUMB ? <ThumbIcon isUp={value > 0} /> : `${name} ${formatNumber(value)}`}</b>{' '}
              {step !== null && `of step ${step} `}
              <span className={page.subtle} title={formatMoment(assignedAt)}>
                by {source.replace(/^human:/, '')}
              </span>{' '}
              {rationale}
            </li>
          ))}
        </ul>
      )}
      {isOfNow && <ScoreForm runId={runId} episodeId={episode.episodeId} />}
    </section>
  );
}

function ScoreForm({ runId, episodeId }: { readonly runId: string; readonly episodeId: string }) {
  const [person, setPerson] = useState(() => localStorage.getItem(NAME_KEY) ?? '');
  const [number, setNumber] = useState('');
  const [note, setNote] = useState('');
  const score = useScoreEpisode();
  const give = (name: string, value: number): void => {
    localStorage.setItem(NAME_KEY, person);
    score.mutate({ runId, episodeId, name, value, person: person.trim() || 'anonymous', note });
    setNumber('');
    setNote('');
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (number !== '' && Number.isFinite(Number(number))) give(SCORE, Number(number));
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <Field label="Your name" value={person} maxLength={100} onChange={setPerson} />
      <Field label="Note" value={note} maxLength={2000} onChange={setNote} />
      {([1, -1] as const).map((value) => (
        <button
          key={value}
          type="button"
          className={controls.iconButton}
          disabled={score.isPending}
          onClick={() => {
            give(THUMB, value);
          }}
        >
          <ThumbIcon isUp={value > 0} />
        </button>
      ))}
      <Field label="Number" type="number" value={number} onChange={setNumber} />
      <button type="submit" className={controls.button} disabled={number === '' || score.isPending}>
        Score
      </button>
      {score.isError && <p role="alert">{score.error.message}</p>}
      {score.isSuccess && <p role="status">Saved; it shows here within seconds.</p>}
    </form>
  );
}
