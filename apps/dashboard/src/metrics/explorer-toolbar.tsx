import { useRuns } from '../api/queries';
import { useSeeds } from '../api/related-runs';
import type { RunDetail } from '../api-types/schema';
import controls from '../components/controls.module.css';
import { Segments } from '../components/segments';
import { Select } from '../components/select';
import { shortId } from '../format/ids';
import { useDraft } from '../components/use-draft';
import { TooltipButton } from '../components/tooltip';
import { formatMoment } from '../format/times';
import page from '../components/page.module.css';
import { MAX_COLUMNS, type ExplorerView } from './explorer-view';
import styles from './metric-explorer.module.css';

const AXES = [
  { value: 'update', label: 'Updates' },
  { value: 'steps', label: 'Steps' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'episodes', label: 'Episodes' },
  { value: 'time', label: 'Time' },
] as const;

const COLUMNS = [
  { value: '0', label: 'fit' },
  ...Array.from({ length: MAX_COLUMNS }, (_, i) => ({ value: `${i + 1}`, label: `${i + 1}` })),
];

/** Added at once. */
const MOST_SEEDS = 20;

interface ExplorerToolbarProps {
  readonly run: RunDetail;
  /** Runs beside that of the page, as far as they are read. */
  readonly others: readonly RunDetail[];
  readonly view: ExplorerView;
  readonly onChange: (changed: Partial<ExplorerView>) => void;
}

/** Chooses metrics, runs, axes and smoothing. */
export function ExplorerToolbar({ run, others, view, onChange }: ExplorerToolbarProps) {
  const { search, smoothing, isLog, isMean, axis, columns } = view;
  const [words, setWords] = useDraft(search, (chosen) => {
    onChange({ search: chosen });
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
      <Smoothing {...{ smoothing, onChange }} />
      <Toggle
        label="Log axis"
        isOn={isLog}
        onChange={(chosen) => {
          onChange({ isLog: chosen });
        }}
      />
      <Toggle
        label="Mean of seeds"
        title="Draws runs that differ only by their seed as their mean, in a band from the least to the greatest"
        isOn={isMean}
        onChange={(chosen) => {
          onChange({ isMean: chosen });
        }}
      />
      <Segments
        label="X-axis"
        value={axis}
        options={AXES}
        onChange={(chosen) => {
          onChange({ axis: chosen });
        }}
      />
      <Select
        label="Columns"
        value={`${columns}`}
        options={COLUMNS}
        onChange={(chosen) => {
          onChange({ columns: Number(chosen) });
        }}
      />
    </div>
  );
}

function Smoothing({
  smoothing,
  onChange,
}: Pick<ExplorerView, 'smoothing'> & Pick<ExplorerToolbarProps, 'onChange'>) {
  const [weight, setWeight] = useDraft(smoothing, (chosen) => {
    onChange({ smoothing: chosen });
  });
  return (
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
  );
}

interface ToggleProps {
  readonly label: string;
  readonly title?: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

function Toggle({ label, title, isOn, onChange }: ToggleProps) {
  return (
    <label className={controls.field} title={title}>
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ target }) => {
          onChange(target.checked);
        }}
      />
      {label}
    </label>
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
      <MoreSeeds {...{ run, others, view, onChange }} />
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

/** Adds runs of the run's recipe with other seeds, of each the newest. */
function MoreSeeds({ run, others, view, onChange }: ExplorerToolbarProps) {
  const { data = [] } = useSeeds(run.runId);
  const seeds = new Set([run, ...others].map(({ seed }) => seed));
  const more: string[] = [];
  for (const { runId, seed } of data) {
    if (seeds.has(seed) || view.others.includes(runId) || more.length === MOST_SEEDS) continue;
    seeds.add(seed);
    more.push(runId);
  }
  if (more.length === 0) return null;
  return (
    <TooltipButton
      className={controls.button}
      tooltip="Runs whose recipe differs only by the seed"
      onClick={() => {
        onChange({ others: [...view.others, ...more], isMean: true });
      }}
    >
      Add {more.length} other {more.length === 1 ? 'seed' : 'seeds'}
    </TooltipButton>
  );
}
