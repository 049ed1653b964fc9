import { hashKey, useQuery } from '@tanstack/react-query';
import { useMatch } from 'react-router';
import { apiOfNow, dataOf } from '../api/client';
import controls from '../components/controls.module.css';
import { SearchField } from '../components/search-field';
import { useDraft } from '../components/use-draft';
import { hasEnded } from '../format/run-state';
import { formatDuration, formatMoment } from '../format/times';
import styles from './as-of-bar.module.css';

const SLIDER_STEPS = 1_000;

interface AsOfBarProps {
  /** Null: now. */
  readonly moment: string | null;
  readonly onShow: (moment: string | null) => void;
  readonly onClose: () => void;
}

/** Chooses the moment that all pages show: a time, an event, or a point on the way of the run that the page is about. */
export function AsOfBar({ moment, onShow, onClose }: AsOfBarProps) {
  const runId = useMatch('/runs/:runId/*')?.params.runId;
  return (
    <section className={styles.bar} aria-label="Time travel" data-active={moment !== null}>
      <strong className={styles.title}>{moment === null ? 'Now' : `As of ${sayMoment(moment)}`}</strong>
      {runId !== undefined && <RunSlider key={runId} runId={runId} moment={moment} onShow={onShow} />}
      <SearchField
        label="Time or event"
        type="search"
        value={moment ?? ''}
        onCommit={(typed) => {
          onShow(typed.trim() === '' ? null : typed.trim());
        }}
      />
      <button
        type="button"
        className={controls.button}
        onClick={() => {
          onShow(null);
          onClose();
        }}
      >
        {moment === null ? 'Close' : 'Back to now'}
      </button>
    </section>
  );
}

/** A time in the zone of this browser; an event as it is. */
function sayMoment(moment: string): string {
  return Number.isNaN(Date.parse(moment)) ? moment : formatMoment(moment);
}

interface RunSliderProps {
  readonly runId: string;
  readonly moment: string | null;
  readonly onShow: (moment: string) => void;
}

/** From the start of a run to its end, or to its newest event. */
function RunSlider({ runId, moment, onShow }: RunSliderProps) {
  const run = useQuery({
    queryKey: ['whole-run', runId],
    // The same whatever moment is shown.
    queryKeyHashFn: hashKey,
    queryFn: ({ signal }) =>
      dataOf(apiOfNow.GET('/api/runs/{runId}', { params: { path: { runId } }, signal })),
    refetchInterval: ({ state: { data } }) => data !== undefined && !hasEnded(data) && 5_000,
  });
  if (run.data === undefined) return null;
  const { startedAt, lastActivityAt } = run.data;
  return (
    <Slider
      startMs={Date.parse(startedAt)}
      endMs={Math.ceil(Date.parse(lastActivityAt ?? startedAt)) + 1}
      shownMs={moment === null ? Number.NaN : Date.parse(moment)}
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
  const applied = Number.isNaN(shownMs) ? endMs : Math.min(Math.max(shownMs, startMs), endMs);
  const [timeMs, setTimeMs] = useDraft(applied, (chosen) => {
    onShow(new Date(chosen).toISOString());
  });
  return (
    <label className={styles.slider}>
      <span>Time of the run</span>
      <input
        type="range"
        min={startMs}
        max={endMs}
        step={Math.max(1, Math.round((endMs - startMs) / SLIDER_STEPS))}
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
