import type { EpisodeDetail, ValidationTask } from '../api-types/schema';
import controls from '../components/controls.module.css';
import { formatCount } from '../format/numbers';
import page from '../components/page.module.css';
import { firstDifference } from '../side-by-side/episode-differences';
import { AttemptView } from './attempt-view';
import styles from './first-and-newest.module.css';
import { usePlayback } from './use-playback';

interface TwoAttemptsProps {
  readonly task: ValidationTask;
  /** That of the first policy, and that of the newest where there is one. */
  readonly episodes: readonly EpisodeDetail[];
}

/** Both attempts at a task, turn by turn: from the first turn that differs. */
export function TwoAttempts({ task, episodes: [first, newest] }: TwoAttemptsProps) {
  const played = newest === undefined ? [first] : [first, newest];
  const numTurns = Math.max(...played.map(({ steps }) => steps.length));
  const playback = usePlayback(firstDifference(played) ?? 0, numTurns);
  const { turn } = playback;
  const cut = [task.first, task.newest]
    .map((attempt, i) => ({ read: played.at(i)?.steps.length ?? 0, all: attempt?.numSteps ?? 0 }))
    .find(({ read, all }) => read > 0 && read < all);
  return (
    <>
      {cut !== undefined && (
        <p className={page.subtle}>
          The first {formatCount(cut.read)} of {formatCount(cut.all)} turns are shown; the page of an episode
          has all of them.
        </p>
      )}
      {numTurns > 1 && <Turns {...playback} numTurns={numTurns} />}
      <div className={styles.attempts}>
        <AttemptView title="First policy" attempt={task.first} episode={first} turn={turn} />
        {task.newest !== null && newest !== undefined ? (
          <AttemptView title="Newest policy" attempt={task.newest} episode={newest} turn={turn} />
        ) : (
          <p className={page.subtle}>The newest policy appears here after the next validation.</p>
        )}
      </div>
    </>
  );
}

type TurnsProps = ReturnType<typeof usePlayback> & { readonly numTurns: number };

function Turns({ turn, isPlaying, goTo, toggle, numTurns }: TurnsProps) {
  return (
    <div className={styles.turns}>
      <button type="button" className={controls.button} onClick={toggle}>
        {isPlaying ? 'Pause' : 'Play'}
      </button>
      <label className={styles.slider}>
        <span>Turn</span>
        <input
          type="range"
          min={1}
          max={numTurns}
          value={turn + 1}
          onChange={({ target }) => {
            goTo(target.valueAsNumber - 1);
          }}
        />
        <span className={styles.position}>
          {formatCount(turn + 1)} of {formatCount(numTurns)}
        </span>
      </label>
    </div>
  );
}
