import page from '../components/page.module.css';
import { useOpenUpdate } from '../updates/use-open-update';
import { ExploredChart } from './explored-chart';
import type { ExploredLine } from './explored-runs';
import type { ExplorerView } from './explorer-view';
import styles from './metric-explorer.module.css';
import { PINNED, type MetricGroup } from './metric-groups';
import type { UserMetric } from './user-metric';
import { UserMetricNote } from './user-metric-note';
import type { ShownUserMetric } from './use-user-metrics';

/** Pixels of a chart, by the number of columns where it is chosen; wide charts are higher. */
const HEIGHTS: Readonly<Record<number, number>> = { 1: 320, 2: 230 };

interface GroupOfChartsProps {
  readonly group: MetricGroup;
  readonly lines: readonly ExploredLine[];
  readonly view: ExplorerView;
  /** By the name of the chart. */
  readonly userMetrics: ReadonlyMap<string, ShownUserMetric>;
  readonly onPin: (name: string) => void;
  readonly onAllow: (query: string) => void;
  readonly onEdit: (metric: UserMetric) => void;
  readonly onRemove: (metric: UserMetric) => void;
  /** The chart whose pin was set or taken away just now; its button gets the focus back in its new group. */
  readonly movedName: string | null;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
}

/** The charts of a kind, which can be folded. */
export function GroupOfCharts(props: GroupOfChartsProps) {
  const { group, lines, view, userMetrics, onPin, movedName, isOpen, onToggle } = props;
  const { kind, names } = group;
  const { axis, smoothing, isLog, columns } = view;
  const onPickUpdate = useOpenUpdate();
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => {
        onToggle(currentTarget.open);
      }}
    >
      <summary className={styles.kind}>
        {kind} <span className={page.subtle}>{names.length}</span>
      </summary>
      {isOpen && (
        <div className={styles.grid} data-columns={columns}>
          {names.map((name) => (
            <div key={name} className={styles.cell}>
              <ExploredChart
                name={name}
                lines={lines}
                {...{ axis, smoothing, isLog, onPin, onPickUpdate }}
                isPinned={kind === PINNED}
                isMoved={name === movedName}
                height={HEIGHTS[columns]}
              />
              <NoteBelow {...props} shown={userMetrics.get(name)} />
            </div>
          ))}
        </div>
      )}
    </details>
  );
}

type NoteBelowProps = Pick<GroupOfChartsProps, 'onAllow' | 'onEdit' | 'onRemove'> & {
  /** Undefined for a metric that the run recorded. */
  readonly shown: ShownUserMetric | undefined;
};

function NoteBelow({ shown, onAllow, onEdit, onRemove }: NoteBelowProps) {
  if (shown === undefined) return null;
  const { metric } = shown;
  return (
    <UserMetricNote
      {...shown}
      onAllow={() => {
        onAllow(metric.query);
      }}
      onEdit={() => {
        onEdit(metric);
      }}
      onRemove={() => {
        onRemove(metric);
      }}
    />
  );
}
