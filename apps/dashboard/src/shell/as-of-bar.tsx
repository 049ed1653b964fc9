import { useQuery } from '@tanstack/react-query';
import { useMatch } from 'react-router';
import { apiOfNow, awaitData } from '../api/client';
import controls from '../components/controls.module.css';
import { SearchField } from '../components/search-field';
import { useNow } from '../components/use-now';
import { useDraft } from '../components/use-draft';
import { formatDuration, formatMoment } from '../format/times';
import { momentMs, readTime } from '../as-of/moment';
import styles from './as-of-bar.module.css';
import { useMomentFinder } from '../api/use-moment-finder';

interface AsOfBarProps {
  /** Null: now. */
  readonly moment: string | null;
  readonly onShow: (moment: string | null) => void;
  readonly onClose: () => void;
}

/** Chooses the moment that all pages show: a time, an event, or a point on the way of the run that the page is about. */
export function AsOfBar({ moment, onShow, onClose }: AsOfBarProps) {
  const runId = useMatch('/runs/:runId/*')?.params.runId;
  const { refused, find, cancel } = useMomentFinder(onShow);
  const show = (next: string | null): void => {
    cancel();
    onShow(next);
  };
  const commit = (typed: string): void => {
    const named = typed.trim();
    const time = readTime(named);
    if (named === '') show(null);
    else if (time !== null) show(time);
    else void find(named);
  };
  return (
    <section className={styles.bar} aria-label="Time travel" data-active={moment !== null}>
      <strong className={styles.title}>{moment === null ? 'Now' : `As of ${sayMoment(moment)}`}</strong>
      {runId !== undefined && <RunSlider key={runId} runId={runId} moment={moment} onShow={show} />}
      <SearchField
        label="Time or event"
        type="search"
        value={moment === null ? '' : sayMoment(moment)}
        onCommit={commit}
      />
      <button
        type="button"
        className={controls.button}
        onClick={() => {
          show(null);
          onClose();
        }}
      >
        {moment === null ? 'Close' : 'Back to now'}
      </button>
      {refused !== null && <span role="alert">{refused}</span>}
    </section>
  );
}

/** A time in the zone of this browser, which `readTime` takes back; an event as it is. */
function sayMoment(moment: string): string {
  return Number.isNaN(momentMs(moment)) ? moment : formatMoment(moment);
}

interface RunSliderProps {
  readonly runId: string;
  readonly moment: string | null;
  readonly onShow: (moment: string) => void;
}

/** From the start of a trained run to its end, or to now, as where agents record it: rewards and tags may come at any time. */
function RunSlider({ runId, moment, onShow }: RunSliderProps) {
  const run = useQuery({
    queryKey: ['whole-run', runId],
    queryFn: ({ signal }) =>
      awaitData(apiOfNow.GET('/api/runs/{runId}', { params: { path: { runId } }, signal })),
  });
  const nowMs = useNow(5_000);
  if (run.data === undefined) return null;
  const { startedAt, endedAt, lastActivityAt, kind } = run.data;
  const ends = kind === 'trained' && endedAt !== null;
  return (
    <Slider
      startMs={Date.parse(startedAt)}
      endMs={ends ? Math.ceil(Date.parse(lastActivityAt ?? endedAt)) + 1 : nowMs}
      shownMs={moment === null ? Number.NaN : momentMs(moment)}
      onShow={onShow}
    />
  );
}

interface SliderProps {
  readonly startMs: number;
  readonly endMs: number;
  /** NaN: the end. */
  readonly shownMs: number;
  readonly onShow: (moment: string) => void;
}

function Slider({ startMs, endMs, shownMs, onShow }: SliderProps) {
  // The end of a run that goes on moves.
  const applied = Number.isNaN(shownMs) ? Number.POSITIVE_INFINITY : Math.max(shownMs, startMs);
  const [draftMs, setTimeMs] = useDraft(applied, (chosen) => {
    onShow(new Date(Math.round(chosen)).toISOString());
  });
  const timeMs = Math.min(draftMs, endMs);
  return (
    <label className={styles.slider}>
      <span>Time of the run</span>
      <input
        type="range"
        min={startMs}
        max={endMs}
        step="any"
        value={timeMs}
        aria-valuetext={`${formatDuration(timeMs - startMs)} after its start`}
        onChange={(event) => {
          setTimeMs(event.target.valueAsNumber);
        }}
      />
      <output>{formatDuration(timeMs - startMs)}</output>
    </label>
  );
}
