import { useRuns } from '../api/queries';
import type { RunDetail } from '../api/schema';
import controls from '../components/controls.module.css';
import { Segments } from '../components/segments';
import { Select } from '../components/select';
import { shortId } from '../format/ids';
import { useDraft } from '../components/use-draft';
import { formatMoment } from '../format/times';
import page from '../pages/page.module.css';
import type { ExplorerView } from './explorer-view';
import styles from './metric-explorer.module.css';

const AXES = [
  { value: 'update', label: 'Updates' },
  { value: 'time', label: 'Time' },
] as const;

interface ExplorerToolbarProps {
  readonly run: RunDetail;
  /** Runs beside that of the page, as far as they are read. */
  readonly others: readonly RunDetail[];
  readonly view: ExplorerView;
  readonly onChange: (changed: Partial<ExplorerView>) => void;
}

/** Chooses metrics, runs, axes and smoothing. */
export function ExplorerToolbar({ run, others, view, onChange }: ExplorerToolbarProps) {
  const { search, smoothing, isLog, axis } = view;
  const [words, setWords] = useDraft(search, (chosen) => {
    onChange({ search: chosen });
  });
  const [weight, setWeight] = useDraft(smoothing, (chosen) => {
    onChange({ smoothing: chosen });
  });
  return (
    <div className={page.filters}>
      <label className={controls.field}>
        Find
        <input
          type="search"
          className={controls.input}
          placeholder="kl, entropy, time …"
          value={words}
          onChange={({ target }) => {
            setWords(target.value);
          }}
        />
      </label>
      <OtherRuns run={run} others={others} view={view} onChange={onChange} />
      <label className={controls.field}>
        Smoothing
        <input
          type="range"
          min={0}
          max={0.99}
          step={0.01}
          value={weight}
          onChange={({ target }) => {
            setWeight(Number(target.value));
          }}
        />
        <span className={styles.amount}>{weight}</span>
      </label>
      <label className={controls.field}>
        <input
          type="checkbox"
          checked={isLog}
          onChange={({ target }) => {
            onChange({ isLog: target.checked });
          }}
        />
        Log axis
      </label>
      <Segments
        label="X-axis"
        value={axis}
        options={AXES}
        onChange={(chosen) => {
          onChange({ axis: chosen });
        }}
      />
    </div>
  );
}

/** Adds runs to the charts, and takes them away. */
function OtherRuns({ run, others, view, onChange }: ExplorerToolbarProps) {
  const { data } = useRuns({ kind: 'trained', archived: 'all' });
  const shown = new Set([run.runId, ...view.others]);
  const options = (data?.pages ?? [])
    .flatMap(({ items }) => items)
    .filter(({ runId }) => !shown.has(runId))
    .map(({ runId, name, startedAt }) => ({ value: runId, label: `${name} · ${formatMoment(startedAt)}` }));
  return (
    <>
      {options.length > 0 && (
        <Select
          label="Compare with"
          value=""
          options={[{ value: '', label: 'add a run' }, ...options]}
          onChange={(runId) => {
            onChange({ others: [...view.others, runId] });
          }}
        />
      )}
      {view.others.map((runId) => (
        <button
          key={runId}
          type="button"
          className={controls.button}
          title="Take this run out of the charts"
          onClick={() => {
            onChange({ others: view.others.filter((other) => other !== runId) });
          }}
        >
          {others.find((other) => other.runId === runId)?.name ?? 'run'} {shortId(runId)} ×
        </button>
      ))}
    </>
  );
}
