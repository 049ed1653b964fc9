import type { RunListItem } from '../api-types/schema';
import { Sparkline } from '../charts/sparkline';
import { Badge, StatusBadge } from '../components/badge';
import { Link } from '../components/link';
import type { TableColumn, TableSort } from '../components/table-model';
import table from '../components/table.module.css';
import { WideTable } from '../components/wide-table';
import { useShownTime } from '../components/use-shown-time';
import { formatCost, formatCount, formatNumber, formatPercent } from '../format/numbers';
import { runDurationMs } from '../format/run-state';
import { formatAgo, formatDuration, formatMoment } from '../format/times';
import { StarButton } from './run-annotations';
import { metricSort } from './run-filter';

interface RunTableProps {
  readonly runs: readonly RunListItem[];
  readonly sort: TableSort;
  readonly onSort: (sort: TableSort) => void;
  readonly onTag: (tag: string) => void;
  /** Dims runs that are about to be replaced. */
  readonly isStale: boolean;
}

export function RunTable({ runs, onTag, ...shown }: RunTableProps) {
  const nowMs = useShownTime(5_000);
  return (
    <WideTable
      keptAs="runs"
      label="Runs"
      columns={columnsAt(nowMs, onTag, runs)}
      rows={runs}
      keyOf={({ runId }) => runId}
      {...shown}
    />
  );
}

type Column = TableColumn<RunListItem>;

/** Columns that only trained, or only recorded, runs have are left out where none of those is in the list. */
function columnsAt(
  nowMs: number,
  onTag: (tag: string) => void,
  runs: readonly RunListItem[],
): readonly Column[] {
  const ofTrained = runs.some(({ kind }) => kind === 'trained') || runs.length === 0;
  const ofRecorded = runs.some(({ kind }) => kind === 'recorded');
  return [
    ...HEAD,
    ...(ofTrained ? TRAINED : []),
    ...(ofRecorded ? RECORDED : []),
    {
      label: 'Started',
      isMuted: true,
      sortKey: 'started',
      cell: ({ startedAt }) => <span title={formatMoment(startedAt)}>{formatAgo(startedAt, nowMs)}</span>,
    },
    { label: 'Duration', isMuted: true, cell: (run) => formatDuration(runDurationMs(run, nowMs)) },
    ...(ofTrained ? [SEED] : []),
    {
      label: 'Tags',
      cell: ({ tags }) =>
        tags.map((tag) => (
          <button
            key={tag}
            type="button"
            className={table.tag}
            title={`Show only runs with the tag ${tag}`}
            onClick={() => {
              onTag(tag);
            }}
          >
            <Badge>{tag}</Badge>
          </button>
        )),
    },
  ];
}

const HEAD: readonly Column[] = [
  { label: 'Star', cell: (run) => <StarButton run={run} /> },
  {
    label: 'Run',
    sortKey: 'name',
    cell: ({ runId, name }) => (
      <Link className={table.link} to={`/runs/${runId}`}>
        {name}
      </Link>
    ),
  },
  {
    label: 'Status',
    cell: ({ status, archived }) => (
      <>
        <StatusBadge status={status} /> {archived && <Badge>Archived</Badge>}
      </>
    ),
  },
  { label: 'Environment', cell: ({ environment }) => environment },
];

const TRAINED: readonly Column[] = [
  { label: 'Progress', cell: ({ progress }) => formatProgress(progress) },
  {
    label: 'Success rate',
    cell: ({ successCurve, name }) => (
      <Sparkline values={successCurve} label={`Success rate of ${name} over its rounds`} />
    ),
  },
  latestColumn('Rollout', 'rollout/success'),
  latestColumn('Validation', 'validation/success'),
  { label: 'Policy version', isNumeric: true, cell: ({ policyVersion }) => formatCount(policyVersion) },
];

const SEED: Column = {
  ...{ label: 'Seed', isNumeric: true },
  cell: ({ kind, seed }) => (kind === 'trained' ? seed : '–'),
};

/** Of runs that agents outside record. */
const RECORDED: readonly Column[] = [
  { label: 'Episodes', isNumeric: true, cell: ({ recorded }) => formatCount(recorded?.numEpisodes) },
  { label: 'Success', isNumeric: true, cell: ({ recorded }) => formatPercent(recorded?.success) },
  { label: 'Return', isNumeric: true, cell: ({ recorded }) => formatNumber(recorded?.meanReturn) },
  { label: 'Steps', isNumeric: true, cell: ({ recorded }) => formatCount(recorded?.numSteps) },
  {
    label: 'Cost',
    isNumeric: true,
    cell: ({ recorded }) => (recorded?.costUsd == null ? '–' : formatCost(recorded.costUsd)),
  },
];

/** The newest value of a success rate, by which the list can be sorted. */
function latestColumn(label: string, metric: string): Column {
  return {
    ...{ label, isNumeric: true, sortKey: metricSort(metric), title: metric },
    cell: ({ latest }) => formatPercent(latest[metric]),
  };
}

/** Says how far a run came: `62 of 150, 8m 12s left`. */
export function formatProgress(progress: RunListItem['progress']): string {
  if (progress === null) return '–';
  const { updateNumber, numUpdates, secondsLeft } = progress;
  const place = `${formatCount(updateNumber)} of ${formatCount(numUpdates)}`;
  return secondsLeft === null || secondsLeft === 0
    ? place
    : `${place}, ${formatDuration(Math.max(1, Math.round(secondsLeft)) * 1000)} left`;
}
